# SPDX-License-Identifier: Apache-2.0
"""Notes on lines of CUDA text: the op a line comes from, and that op's place in the program."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Operation

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.printer import cuda_text
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import kernel
from tilewright.dialects.origin import named, story
from tilewright.passes.rewriting.appending import title
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.input.mlir_source import read_module

Parse = Callable[[str], ModuleOp]

PROGRAM = """
func.func @main(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %mm = torch.matmul %x, %w : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
    loc("matmul"("layers.0: Linear"("model.py":7:0)))
  %relu = torch.relu %mm : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("relu"("model.py":8:0))
  func.return %relu : tensor<64x64xf32>
}
"""


def test_each_line_comes_from_an_op_of_the_program(parse: Parse):
    source, notes = cuda_text(lower(parse(PROGRAM), "cuda"))
    lines = source.splitlines()
    notes_of = {lines[number - 1].strip(): note for number, note in notes.items()}
    linear = "matmul, layers.0: Linear, model.py:7"
    assert notes_of["const int thread = threadIdx.x;"].startswith(
        "kernel.thread_id %thread of tile."
    )
    copies = {note for line, note in notes_of.items() if "&x[" in line}
    assert copies == {f"kernel.copy_async %x of tile.stage %xs, {linear}"}
    (loop,) = (note for line, note in notes_of.items() if line.startswith("for (int ko"))
    assert loop == f"scf.for %ko of loop.reduce %ko, {linear}"
    (store,) = (note for line, note in notes_of.items() if "&out[" in line)
    assert store == "kernel.copy %out of loop.store %out, relu, model.py:8"


def test_signatures_and_the_prelude_come_from_no_op(parse: Parse):
    source, notes = cuda_text(lower(parse(PROGRAM), "cuda"))
    body = next(n for n, line in enumerate(source.splitlines(), 1) if "blockIdx.x" in line)
    assert min(notes) == body
    assert max(notes) == source.count("\n") - 1


def test_the_first_meaningful_location_counts():
    line = FileLineColLoc(StringAttr("m.py"), IntAttr(3), IntAttr(0))
    nowhere = FusedLoc(ArrayAttr([]), NoneAttr())
    fused = FusedLoc(ArrayAttr([nowhere, NameLoc(StringAttr("exp"), line), line]), NoneAttr())
    assert story(named("loop.load", fused)) == "loop.load of exp, m.py:3"
    assert story(line) == ""


RACE = """
kernel.func grid 1 block 64 @reverse(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %row = kernel.shared : memref<64xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<64xf32>
  loop.store %0, %row[%t] : memref<64xf32, 3 : i64>
  %1 = loop.load %row[63 - %t] : memref<64xf32, 3 : i64> loc("flip"("model.py":7:0))
  loop.store %1, %out[%t] : memref<64xf32>
}
"""


@needs_nvrtc
def test_findings_name_the_op_of_their_line(parse: Parse):
    plan = plan_of(lower(with_main(parse(RACE)), "cuda"))
    execution = SimulatorBackend("sm_90a").run(plan, random_inputs(plan.inputs, 0))
    (problem,) = execution.problems
    assert problem.message.startswith("race: ")
    assert problem.note == "loop.load %row of flip, model.py:7"


KERNELS = Path(__file__).parents[2] / "codegen" / "simulator" / "tile"
BY_HAND = Path(__file__).parents[1] / "tile" / "kernels"
TILE = [*sorted(KERNELS.glob("*.mlir")), *sorted(BY_HAND.glob("*join*.mlir"))]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", TILE, ids=lambda path: path.stem)
def test_added_kernel_ops_come_from_an_op_of_tile_ir(path: Path):
    _, notes = cuda_text(lower(with_main(read_module(str(path))), "cuda"))
    added = {note for note in notes.values() if note.startswith(("kernel.", "scf."))}
    assert added
    assert not [note for note in added if not re.search(r" of (tile|loop|arith|math)\.", note)]


STAGED = """
loop.kernel @flip(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64 k) {
    %xs = tile.stage (%i) in [64] {
      %0 = loop.load %x[%i] : memref<64xf32> loc("flip")
      loop.yield %0 : f32
    } : memref<64xf32, 3 : i64>
    %1 = loop.load %xs[63 - %t] : memref<64xf32, 3 : i64>
    loop.store %1, %out[%t] : memref<64xf32>
  }
}
"""


def test_an_op_of_a_stage_names_the_stage(parse: Parse):
    load = next(op for op in parse(STAGED).walk() if op.name == "loop.load")
    assert title(load) == "loop.load %x in tile.stage %xs"
    both = named("loop.load %x", named(title(load), load.location))
    assert story(both) == "loop.load %x in tile.stage %xs of flip"


STAGE = "kernel.copy %hs of loop.load %hs"
COMBINE = "loop.load %partial of tile.combine %max across %t, %i, %v"


@needs_nvrtc
@pytest.mark.parametrize(
    ("name", "dropped", "line", "note"),
    [
        ("gated_matmul", kernel.RingWaitOp, "= *reinterpret_cast<const float4 *>(&hs[", STAGE),
        ("softmax_block", kernel.BarrierOp, "= partial[w];", COMBINE),
    ],
)
def test_a_planted_race_names_the_line_and_the_op_of_tile_ir(
    name: str, dropped: type[Operation], line: str, note: str
):
    module = lower(with_main(read_module(str(KERNELS / f"{name}.mlir"))), "kernel")
    next(op for op in module.walk() if isinstance(op, dropped)).detach()
    plan = plan_of(lower(module, "cuda"))
    problems = SimulatorBackend("sm_90a").run(plan, random_inputs(plan.inputs, 0)).problems
    lines = plan.source.splitlines()
    races = [p for p in problems if p.message.startswith("race: ")]
    notes = {race.note for race in races if line in lines[race.line - 1]}
    assert any(each.startswith(f"{note}, {KERNELS / name}.mlir:") for each in notes)
