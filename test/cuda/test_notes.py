# SPDX-License-Identifier: Apache-2.0
"""Lines of CUDA text know what they come from: the op, and where in the program that comes from."""

from collections.abc import Callable

import pytest
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

from tilewright.api import lower
from tilewright.codegen import nvrtc
from tilewright.codegen.execution import SimulatorBackend
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.printer import cuda_text
from tilewright.dialects.origin import named, story
from tilewright.tools.program import random_inputs, with_main

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
    assert notes_of["const int thread = threadIdx.x;"] == "kernel.thread_id"
    (load,) = (note for line, note in notes_of.items() if "= x[" in line)
    assert load == f"loop.load %x of {linear}"
    (loop,) = (note for line, note in notes_of.items() if line.startswith("for (int k"))
    assert loop == f"scf.for of {linear}"
    (store,) = (note for line, note in notes_of.items() if line.startswith("out["))
    assert store == "loop.store %out of relu, model.py:8"


def test_signatures_and_the_prelude_come_from_no_op(parse: Parse):
    source, notes = cuda_text(lower(parse(PROGRAM), "cuda"))
    body = next(n for n, line in enumerate(source.splitlines(), 1) if "blockIdx.x" in line)
    assert min(notes) == body
    assert max(notes) == source.count("\n") - 1


def test_of_several_places_the_first_that_says_something_counts():
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


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_findings_say_what_their_line_comes_from(parse: Parse):
    plan = plan_of(lower(with_main(parse(RACE)), "cuda"))
    execution = SimulatorBackend("sm_90a").run(plan, random_inputs(plan.inputs, 0))
    (problem,) = execution.problems
    assert problem.message.startswith("race: ")
    assert problem.note == "loop.load %row of flip, model.py:7"
