# SPDX-License-Identifier: Apache-2.0
"""
Lowering verifies only the program and its lowered form, and still names the pass that breaks it.
"""

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser

from tilewright.dialects import loop
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.verification import InvalidOpError
from tilewright.passes.loop.lift import LiftPass
from tilewright.passes.reporting.trace import Listener, listening

PROGRAM = """
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %add = prim.elementwise add(%x, %x) : tensor<16xf32>
  func.return %add : tensor<16xf32>
}
"""


def program() -> ModuleOp:
    """Return the module of the text above."""
    return Parser(context(), PROGRAM).parse_module()


def kernel_in(module: ModuleOp) -> loop.KernelOp:
    """Return the only kernel of a module."""
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return kernel


def rename(module: ModuleOp) -> None:
    kernel_in(module).properties["sym_name"] = StringAttr("other")


def forget_a_property(module: ModuleOp) -> None:
    """Delete a property that later passes need."""
    store = next(op for op in module.walk() if isinstance(op, loop.StoreOp))
    del store.properties["map"]


def fail(module: ModuleOp) -> None:
    raise RuntimeError("does not work")


def break_pass(monkeypatch: pytest.MonkeyPatch, change: Callable[[ModuleOp], None]) -> None:
    """Make the pass `lift` apply that change, too."""
    apply = LiftPass.apply

    def broken(step: LiftPass, ctx: Context, op: ModuleOp) -> None:
        apply(step, ctx, op)
        change(op)

    monkeypatch.setattr(LiftPass, "apply", broken)


@pytest.mark.parametrize("change", [rename, forget_a_property])
def test_the_pass_that_breaks_a_program_is_named(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[ModuleOp], None]
):
    break_pass(monkeypatch, change)
    with pytest.raises(InvalidOpError) as failure:
        lower(program(), Level.CUDA)
    assert failure.value.made_by == "lift"


def test_an_ill_formed_input_is_no_passes_fault():
    module = program()
    del next(op for op in module.walk() if op.name == "prim.elementwise").properties["function"]
    with pytest.raises(InvalidOpError, match=r"prim\.elementwise") as failure:
        lower(module, Level.CUDA)
    assert failure.value.made_by == ""


class LookCounter(Listener[None]):
    """Listener that counts how often it looks at the IR."""

    def __init__(self) -> None:
        self.times = 0

    def look(self, scope: Operation) -> None:
        """Count the look, and keep nothing."""
        self.times += 1


def test_exceptions_of_a_pass_on_a_well_formed_program_are_passed_on(
    monkeypatch: pytest.MonkeyPatch,
):
    break_pass(monkeypatch, fail)
    counter = LookCounter()
    with pytest.raises(RuntimeError, match="does not work"), listening(counter):
        lower(program(), Level.CUDA)
    assert counter.times == 2, (
        "before and after the rewrite; the search for the pass is not counted"
    )
