# SPDX-License-Identifier: Apache-2.0
"""Plans that write outputs in the place of inputs, run on memory that is really shared."""

import numpy as np
import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.plan_graph import graph_of
from tilewright.codegen.plan_text import plan_text
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import UsageError
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower

# Three buffers would be live at the same time if %c were not in the place of %a.
CHAIN = """
func.func @main(%x: memref<33x5xf32>) -> memref<33x5xf32> {
  %a = memref.alloc() {plan.offset = 0} : memref<33x5xf32>
  %b = memref.alloc() {plan.offset = 768} : memref<33x5xf32>
  %c = memref.alloc() {plan.offset = 0} : memref<33x5xf32>
  %d = memref.alloc() : memref<33x5xf32>
  loop.launch @flip(%x, %x) -> (%a) : (TYPE, TYPE) -> (TYPE)
  loop.launch @flip(%a, %a) -> (%b) : (TYPE, TYPE) -> (TYPE)
  loop.launch @flip(%b, %a) -> (%c) : (TYPE, TYPE) -> (TYPE)
  loop.launch @flip(%c, %c) -> (%d) : (TYPE, TYPE) -> (TYPE)
  func.return %d : TYPE
}
kernel.func grid 33 block 5 @flip(%x: TYPE, %y: TYPE)
    -> (%out: TYPE {plan.in_place = array<i64: 1>}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, 4 - %t] : TYPE
  %1 = loop.load %y[%b, %t] : TYPE
  %2 = arith.subf %0, %1 : f32
  %3 = arith.subf %2, %1 : f32
  loop.store %3, %out[%b, %t] : TYPE
}
""".replace("TYPE", "memref<33x5xf32>")

X = np.arange(165, dtype=np.float32).reshape(33, 5) ** 2


def expected() -> np.ndarray:
    """Return the result of `CHAIN` for `X`."""
    a = X[:, ::-1] - 2 * X
    b = a[:, ::-1] - 2 * a
    c = b[:, ::-1] - 2 * a
    return c[:, ::-1] - 2 * c


def parsed(text: str) -> ModuleOp:
    """Return the module of a text."""
    return Parser(context(), text).parse_module()


def plan(text: str) -> Plan:
    """Return the plan of a program in Kernel IR, with its offsets unchanged."""
    return plan_of(lower(parsed(text), Level.CUDA))


def test_the_interpreter_shares_memory_too() -> None:
    np.testing.assert_array_equal(interpret(parsed(CHAIN), X)[0], expected())


def test_the_interpreter_rejects_a_kernel_that_must_not_share_memory() -> None:
    wrong = CHAIN.replace("array<i64: 1>", "array<i64: 0, 1>").replace("(%b, %a)", "(%a, %b)")
    with pytest.raises(InterpreterError, match="while another thread"):
        interpret(parsed(wrong), X)


def test_in_place_outputs_that_the_kernel_does_not_allow() -> None:
    silent = CHAIN.replace(" {plan.in_place = array<i64: 1>}", "")
    with pytest.raises(InterpreterError, match="%c is written where %a lies"):
        interpret(parsed(silent), X)
    with pytest.raises(UsageError, match="%a and %c share memory, but are needed at the same time"):
        plan(silent)
    # as an input that the kernel allows, and as one that it does not
    both = CHAIN.replace("(%b, %a) ->", "(%a, %a) ->")
    with pytest.raises(InterpreterError, match="%c is written where %a lies"):
        interpret(parsed(both), X)
    with pytest.raises(UsageError, match="%a and %c share memory"):
        plan(both)
    partly = CHAIN.replace("%b = memref.alloc() {plan.offset = 768}", "%b = memref.alloc()")
    partly = partly.replace(
        "%c = memref.alloc() {plan.offset = 0}", "%c = memref.alloc() {plan.offset = 256}"
    )
    with pytest.raises(UsageError, match="%a and %c share memory"):
        plan(partly)


@needs_nvrtc
def test_the_simulator_runs_on_shared_memory() -> None:
    execution = SimulatorBackend("sm_90a").run(plan(CHAIN), [X])
    assert execution.problems == []
    np.testing.assert_array_equal(execution.results[0], expected())


@needs_nvrtc
def test_of_two_outputs_one_is_in_place_and_one_half_written() -> None:
    """The check for unwritten integers runs twice; the second run has the inputs of the first."""
    text = """
      func.func @main(%x: memref<8xi32>) -> (memref<8xi32>, memref<8xi32>) {
        %a = memref.alloc() {plan.offset = 0} : memref<8xi32>
        %b = memref.alloc() {plan.offset = 0} : memref<8xi32>
        %c = memref.alloc() : memref<8xi32>
        %d = memref.alloc() : memref<8xi32>
        %e = memref.alloc() : memref<8xi32>
        loop.launch @k(%x) -> (%a, %c) : (memref<8xi32>) -> (memref<8xi32>, memref<8xi32>)
        loop.launch @k(%a) -> (%b, %d) : (memref<8xi32>) -> (memref<8xi32>, memref<8xi32>)
        loop.launch @k(%b) -> (%e, %c) : (memref<8xi32>) -> (memref<8xi32>, memref<8xi32>)
        func.return %e, %d : memref<8xi32>, memref<8xi32>
      }
      kernel.func grid 1 block 8 @k(%x: memref<8xi32>)
          -> (%out: memref<8xi32> {plan.in_place = array<i64: 0>}, %half: memref<8xi32>) {
        %t = kernel.thread_id
        %0 = loop.load %x[%t] : memref<8xi32>
        %1 = arith.addi %0, %0 : i32
        loop.store %1, %out[%t] : memref<8xi32>
        loop.store %0, %half[%t] MASK : memref<8xi32>
      }"""
    poison = np.array([0x7FC0FEED], np.uint32).view(np.int32)[0]
    x = np.full(8, poison // 2, np.int32)
    x[0] = poison
    whole = SimulatorBackend("sm_90a").run(plan(text.replace("MASK", "")), [x])
    assert whole.problems == []
    np.testing.assert_array_equal(whole.results[0], x * 8)
    half = SimulatorBackend("sm_90a").run(plan(text.replace("MASK", "where [3 - %t]")), [x])
    assert [problem.message for problem in half.problems] == [
        "output 1 is never written at [4], nor at 3 more"
    ] * 3


def test_text_and_pictures() -> None:
    shown = plan(CHAIN)
    assert [launch.in_place for launch in shown.launches] == [(), (), ((3, 1),), ()]
    assert "  2  flip<<<33, 5>>>  (%b, %a) -> (%c in place of %a)\n" in plan_text(shown)
    assert "slab of intermediate buffers: 1536 B, 2304 B if none shared memory" in plan_text(shown)
    (node,) = [node for node in graph_of(shown).nodes if node.id == "k2"]
    assert node.lines == ("flip", "33 x 5", "%c in place of %a")


def test_pointers_that_may_be_equal_are_not_restrict() -> None:
    signature = plan(CHAIN).source.partition("{")[0]
    assert "const float *__restrict__ x" in signature
    assert "const float *y" in signature
    assert "float *out" in signature
    assert "restrict__ out" not in signature
