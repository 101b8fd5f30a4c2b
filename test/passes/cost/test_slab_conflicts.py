# SPDX-License-Identifier: Apache-2.0
"""Predicted accesses to slabs in Tile IR agree with Kernel IR and with the simulator's counts."""

import re
from collections import defaultdict
from collections.abc import Callable

import pytest
import torch
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import kernel, tile
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.cost.shared_banks import wavefronts
from tilewright.passes.cost.slab_conflicts import SlabConflicts, slab_traffic
from tilewright.passes.facts.memory_access import accesses_of
from tilewright.passes.rewriting.launching import with_main

from ..tile.kernels.references import FOLDER, REFERENCES

Parse = Callable[[str], ModuleOp]
Found = dict[tuple[str | None, bool], set[tuple[int, int, int]]]
"""
Accesses by slab and by whether they are stores: their width, wavefronts, and ideal wavefronts.
"""


def text_of(name: str) -> str:
    """Return the text of the kernel in the file of that name."""
    return (FOLDER / f"{name}.mlir").read_text()


# One of the kernels that differ only in how blocks are joined.
SIMILAR = {"matmul_join_atomic", "matmul_join_last_block", "matmul_join_workspace"}
STAGED = [name for name in REFERENCES if name not in SIMILAR and "tile.stage" in text_of(name)]

# Changes of a kernel's text: other layouts, transports and arrangements. Some overrun their slabs,
# but no test runs them.
VARIATIONS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "dense": lambda text: re.sub(r" #tile\.layout<.*?>,", "", text),
    "padded by one": lambda text: re.sub(r"pad \[0, \d\]", "pad [0, 1]", text),
    "padded by two": lambda text: re.sub(r"pad \[0, \d\]", "pad [0, 2]", text),
    "by threads": lambda text: re.sub(r" transport\(\w+\)", "", text),
    "one slot": lambda text: re.sub(r" transport\(\w+\)| ring\(.*?\)", "", text),
    "4 by 8 lanes": lambda text: text.replace("%tm = thread 16", "%tm = thread 32").replace(
        "%tn = thread 16", "%tn = thread 8"
    ),
    "columns in strips": lambda text: text.replace(
        "%sn * 64 + %tn * 4 + %vn", "%vn * 32 + %sn * 16 + %tn"
    ),
    "rows in strips": lambda text: text.replace(
        "%sm * 64 + %tm * 4 + %vm", "%vm * 32 + %sm * 16 + %tm"
    ),
}


def launch_in(module: ModuleOp) -> tile.LaunchOp:
    """Return the only launch."""
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    return launch


def predicted(module: ModuleOp) -> Found:
    """Return the accesses that the launch predicts."""
    found: Found = defaultdict(set)
    conflicts = SlabConflicts(launch_in(module))
    for stage in conflicts.stages:
        for is_store, requests in (
            (False, conflicts.reads(stage)),
            (True, conflicts.writes(stage)),
        ):
            for request in requests:
                taken = request.width, request.taken.actual, request.taken.ideal
                found[stage.slab.name_hint, is_store].add(taken)
    return found


def lowered(module: ModuleOp) -> Found:
    """Return the accesses in Kernel IR."""
    names = {stage.slab.name_hint for stage in tile.stages_of(launch_in(module))}
    found: Found = defaultdict(set)
    for function in lower(with_main(module), "kernel").ops:
        if not isinstance(function, kernel.FuncOp):
            continue
        for access in (access for op in function.walk() for access in accesses_of(op)):
            if access.is_shared and access.memref.name_hint in names:
                taken = wavefronts(access, function.block.value.data)
                key = access.memref.name_hint, access.is_store
                found[key].add((access.width, taken.actual, taken.ideal))
    return found


CASES = [
    (name, variation)
    for variation, change in VARIATIONS.items()
    for name in STAGED
    if variation == "as it is" or change(text_of(name)) != text_of(name)
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "variation"), CASES)
def test_kernel_ir_has_the_predicted_accesses(parse: Parse, name: str, variation: str):
    text = VARIATIONS[variation](text_of(name))
    assert predicted(parse(text)) == lowered(parse(text))


@pytest.mark.parametrize("name", STAGED)
def test_short_loops_are_taken_for_unrolled(parse: Parse, name: str):
    rolled = text_of(name).replace(" unroll", "")
    assert predicted(parse(rolled)) == predicted(parse(text_of(name)))


NN = """
  loop.kernel @mm(%a: memref<64x32xf32>, %b: memref<32x64xf32>) -> (%out: memref<64x64xf32>) {{
    tile.launch (%tm = thread 16 m, %tn = thread 16 n, %vm = register 4 m, %vn = register 4 n) {{
      %acc = loop.reduce %ko in 2 with add {{
        %as = tile.stage (%i, %k) in [64, 16] {{
          %0 = loop.load %a[%i, %ko * 16 + %k] : memref<64x32xf32>
          loop.yield %0 : f32
        }} : memref<64x16xf32, {a}3 : i64>
        %bs = tile.stage (%k, %j) in [16, 64] {{
          %0 = loop.load %b[%ko * 16 + %k, %j] : memref<32x64xf32>
          loop.yield %0 : f32
        }} : memref<16x64xf32, {b}3 : i64>
        %chunk = loop.reduce %ki in 4 with add unroll {{
          %four = loop.reduce %kv in 4 with add unroll {{
            %x = loop.load %as[{row}, %ki * 4 + %kv] : memref<64x16xf32, {a}3 : i64>
            %y = loop.load %bs[%ki * 4 + %kv, {column}] : memref<16x64xf32, {b}3 : i64>
            %xy = arith.mulf %x, %y : f32
            loop.yield %xy : f32
          }} : f32
          loop.yield %four : f32
        }} : f32
        loop.yield %chunk : f32
      }} : f32
      loop.store %acc, %out[{row}, {column}] : memref<64x64xf32>
    }}
  }}
"""

# The layouts of both slabs, and the positions of a thread's rows and columns.
SIMULATED = {
    "dense": ("", "", "%tm * 4 + %vm", "%tn * 4 + %vn"),
    "padded": ("#tile.layout<pad [0, 4]>, ", "", "%tm * 4 + %vm", "%tn * 4 + %vn"),
    "swizzled": ("#tile.layout<swizzle 64>, ", "", "%vm * 16 + %tm", "%tn * 4 + %vn"),
    "far columns": ("", "", "%tn * 4 + %vm", "%tm * 4 + %vn"),
}


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("case", SIMULATED)
def test_the_simulator_counts_the_predicted_wavefronts(parse: Parse, case: str):
    a, b, row, column = SIMULATED[case]
    module = parse(NN.format(a=a, b=b, row=row, column=column))
    traffic = slab_traffic(launch_in(module)).values()
    inputs = [array_of(torch.randn(shape)) for shape in ((64, 32), (32, 64))]
    execution = SimulatorBackend("sm_90a").run(plan_of(lower(with_main(module), "cuda")), inputs)
    (report,) = execution.kernels
    assert not execution.problems
    # NVRTC may make a thread read a part of a vector again; only accesses of 16 bytes count
    counts = [c for c in report.counters.accesses if (c.space, c.size) == ("shared", 16)]
    assert sum(c.requests for c in counts) == 2 * sum(each.requests for each in traffic)
    assert sum(c.transactions for c in counts) == 2 * sum(each.wavefronts for each in traffic)
    assert sum(c.ideal for c in counts) == 2 * sum(each.ideal for each in traffic)


def test_a_slab_in_another_layout(parse: Parse):
    launch = launch_in(parse(VARIATIONS["dense"](text_of("batched_matmul_tma"))))
    conflicts = SlabConflicts(launch)
    _, second = conflicts.stages
    # 8 lanes read 16 bytes each at the start of rows of 64 bytes: 2 rows cover all banks
    assert conflicts.traffic(second).factor == 4
    assert conflicts.traffic(second, SlabLayoutAttr.get(swizzle=64)).factor == 1
    assert conflicts.traffic(second, SlabLayoutAttr.get(pad=(0, 4))).factor == 1


def test_a_kernel_without_slabs(parse: Parse):
    (op,) = parse(text_of("rms_norm_2048")).ops
    assert isinstance(op, KernelOp)
    assert slab_traffic(launch_in(parse(text_of("rms_norm_2048")))) == {}
