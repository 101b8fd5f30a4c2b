# SPDX-License-Identifier: Apache-2.0
"""
Passes that choose layouts and transports of slabs. They reproduce the hand-written kernels, and
other kernels run without problems after them, for all types and sizes.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest
from needs import needs_nvrtc
from some_cases import some
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop, tile
from tilewright.interpreters.kernels import interpret_kernel
from tilewright.passes.cost.slab_conflicts import slab_traffic
from tilewright.passes.rewriting.launching import with_main

from .kernels.references import FOLDER
from .scheduled import run

Parse = Callable[[str], ModuleOp]


def applied(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Run the passes of `pipeline` on the module and return it."""
    run(module, pipeline)
    return module


def kernel_in(module: ModuleOp) -> loop.KernelOp:
    """Return the only kernel of a module."""
    (kernel,) = [op for op in module.walk() if isinstance(op, loop.KernelOp)]
    return kernel


def factors(module: ModuleOp) -> dict[str | None, str]:
    """Return the bank factor of each slab, as text."""
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    return {slab.name_hint: f"{found}" for slab, found in slab_traffic(launch).items()}


# Pipeline that restores the transports and layouts of a hand-written kernel's slabs, and the bank
# factors without and with them. A warp that fills two padded rows of 64 bytes has a bank conflict.
HAND = {
    "matmul_split_k": (
        "async-copy,pad-smem{pad=4 slabs=as}",
        {"as": "1.00", "bs": "1.00"},
        {"as": "1.11", "bs": "1.00"},
    ),
    "gated_matmul": (
        "async-copy,pad-smem{pad=4 slabs=hs}",
        {"hs": "1.00", "ws": "1.00"},
        {"hs": "1.11", "ws": "1.00"},
    ),
    "attention_values": (
        "async-copy",
        {"ss": "1.00", "vs": "1.00"},
        {"ss": "1.00", "vs": "1.00"},
    ),
    "matmul_odd": (
        "async-copy,pad-smem{pad=1 slabs=as}",
        {"as": "1.80", "bs": "1.00"},
        {"as": "1.11", "bs": "1.00"},
    ),
    "batched_matmul_tma": (
        "tma-copy{slabs=as,bs},split-inner-for-swizzle{width=64 slabs=as,bs},async-copy,pad-smem",
        {"as": "1.00", "bs": "3.82"},
        {"as": "1.00", "bs": "1.00"},
    ),
    "matmul_tma_slabs": (
        "tma-copy,split-inner-for-swizzle{width=128 slabs=as,bs},async-copy,pad-smem",
        {"as": "1.00", "bs": "1.00"},
        {"as": "1.00", "bs": "1.00"},
    ),
}


@pytest.mark.parametrize("name", HAND)
def test_hand_written_kernels_come_out_of_the_passes(parse: Parse, name: str):
    pipeline, bare_factors, hand_factors = HAND[name]
    text = (FOLDER / f"{name}.mlir").read_text()
    module = parse(re.sub(r" #tile\.layout<.*?>,| transport\(\w+\)", "", text))
    assert factors(module) == bare_factors
    applied(module, pipeline)
    assert factors(module) == hand_factors
    kernel = kernel_in(module)
    kernel.schedule = None
    assert str(kernel) == str(kernel_in(parse(text)))


# Product a @ b.T of 33x36 and 44x36: both slabs are read along K. Placeholders are the stored and
# computed types, and a cast.
PRODUCT = """
  loop.kernel @mm(%a: memref<33x{k}x{stored}>, %b: memref<44x{k}x{stored}>)
      -> (%out: memref<33x44x{computed}>) {{
    tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n,
                 %vm = register 4 m, %vn = register 4 n) {{
      %acc = loop.reduce %ko in 3 with add {{
        %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) {{
          %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k]
            where [32 - %bm * 32 - %i, {k} - 1 - %ko * 16 - %k] : memref<33x{k}x{stored}>
          loop.yield %0 : {stored}
        }} : memref<32x16x{stored}, 3 : i64>
        %bs = tile.stage (%j, %k) in [32, 16] ring(depth 2) {{
          %0 = loop.load %b[%bn * 32 + %j, %ko * 16 + %k]
            where [43 - %bn * 32 - %j, {k} - 1 - %ko * 16 - %k] : memref<44x{k}x{stored}>
          loop.yield %0 : {stored}
        }} : memref<32x16x{stored}, 3 : i64>
        %chunk = loop.reduce %ki in 4 with add {{
          %four = loop.reduce %kv in 4 with add {{
            %x{raw} = loop.load %as[%tm * 4 + %vm, %ki * 4 + %kv] : memref<32x16x{stored}, 3 : i64>
            %y{raw} = loop.load %bs[%tn * 4 + %vn, %ki * 4 + %kv] : memref<32x16x{stored}, 3 : i64>
            {cast}
            %xy = {multiply} %x, %y : {computed}
            loop.yield %xy : {computed}
          }} : {computed}
          loop.yield %four : {computed}
        }} : {computed}
        loop.yield %chunk : {computed}
      }} : {computed}
      loop.store %acc, %out[%bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn]
        where [32 - %bm * 32 - %tm * 4 - %vm, 43 - %bn * 32 - %tn * 4 - %vn]
        : memref<33x44x{computed}>
    }}
  }}"""

EXTEND = "%x = arith.extf %xh : f16 to f32  %y = arith.extf %yh : f16 to f32"
TYPES = {
    "f32": dict(stored="f32", computed="f32", raw="", cast="", multiply="arith.mulf"),
    "f64": dict(stored="f64", computed="f64", raw="", cast="", multiply="arith.mulf"),
    "i32": dict(stored="i32", computed="i32", raw="", cast="", multiply="arith.muli"),
    "i64": dict(stored="i64", computed="i64", raw="", cast="", multiply="arith.muli"),
    "f16": dict(stored="f16", computed="f32", raw="h", cast=EXTEND, multiply="arith.mulf"),
}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}

LAYOUTS = {
    "strips, boxes, swizzles": "permute-register-tile,tma-copy,split-inner-for-swizzle",
    "strips, copies, pads": "permute-register-tile,async-copy,pad-smem",
    "strips, threads, pads": "permute-register-tile,pad-smem",
    "lanes, swizzles by threads": "permute-register-tile{vm=2 vn=1 lanes_m=8 fastest=n},async-copy,"
    "split-inner-for-swizzle{width=32 slabs=as,bs}",
    "rows first, one more": "permute-register-tile{vm=1 vn=2 lanes_m=4 fastest=m},"
    "pad-smem{pad=1 slabs=as,bs}",
}


def inputs_of(stored: str, k: int) -> list[Array]:
    """Return inputs of small whole numbers, whose sums are exact in every type."""
    random = np.random.default_rng(0)
    return [random.integers(-4, 5, (rows, k)).astype(NUMPY[stored]) for rows in (33, 44)]


def scheduled(parse: Parse, type: str, layout: str, k: int) -> ModuleOp:
    """Return the product in type `type`, with the passes of `layout` applied."""
    return applied(parse(PRODUCT.format(k=k, **TYPES[type])), LAYOUTS[layout])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("type", TYPES)
def test_all_types_are_legal_or_declined(parse: Parse, type: str, layout: str):
    # Rows of 37 elements allow neither TMA boxes nor wide copies.
    for k in (36, 37):
        a, b = inputs_of(type, k)
        (found,) = interpret_kernel(kernel_in(scheduled(parse, type, layout, k)), [a, b])
        np.testing.assert_array_equal(found, a.astype(np.float64) @ b.astype(np.float64).T)


SIMULATED = [
    *(("f32", layout, 36) for layout in LAYOUTS),
    ("f64", "strips, boxes, swizzles", 36),
    ("f16", "strips, copies, pads", 37),
]


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize(("type", "layout", "k"), some(SIMULATED, unpacked=True))
def test_simulated(parse: Parse, type: str, layout: str, k: int):
    module = applied(scheduled(parse, type, layout, k), "pipeline-k-outer,mark-unroll")
    a, b = inputs_of(type, k)
    plan = plan_of(lower(with_main(module), "cuda"))
    execution = SimulatorBackend("sm_90a").run(plan, [a, b])
    assert not execution.problems
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(execution.results[0], exact)


BOXES = (
    "permute-register-tile{vm=4 vn=4 lanes_m=4 fastest=n},tma-copy{slabs=as,bs},"
    "split-inner-for-swizzle{width=64 slabs=as,bs},pipeline-k-outer,mark-unroll"
)


@needs_nvrtc
@pytest.mark.parametrize("first", [0, 1])
def test_piles_of_rows_are_copied_as_boxes(parse: Parse, first: int):
    """A block's rows begin with the first row of the first pile, or one row later."""
    text = PRODUCT.format(k=36, **TYPES["f32"])
    text = text.replace("%b[%bn * 32 + %j,", f"%b[%bn * 32 + %j + {first},")
    text = text.replace("[43 - %bn * 32 - %j,", f"[{43 - first} - %bn * 32 - %j,")
    module = applied(parse(text), BOXES)
    assert "deal 4, swizzle 64" in str(module)
    assert factors(module) == {"as": "1.00", "bs": "1.00"}
    a, b = inputs_of("f32", 36)
    plan = plan_of(lower(with_main(module), "cuda"))
    assert plan.source.count("tma_copy_3d(&") == 8  # four piles, in the prologue and in the loop
    execution = SimulatorBackend("sm_90a").run(plan, [a, b])
    assert not execution.problems
    rows = np.vstack([b[first:], np.zeros_like(b[:first])])
    np.testing.assert_array_equal(execution.results[0], a @ rows.T)
