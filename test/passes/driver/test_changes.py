# SPDX-License-Identifier: Apache-2.0
"""Changes of a pass are found and verified without notification; unchanged parts are skipped."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, MulfOp
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, StringAttr, UnitAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects import loop
from tilewright.passes.driver.changes import Changes
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.verification import InvalidOpError

PLAN = """
func.func @main(%x: memref<16xf32>) -> memref<16xf32> {
  %y = memref.alloc() : memref<16xf32>
  %z = memref.alloc() : memref<16xf32>
  loop.launch @double(%x) -> (%y) : (memref<16xf32>) -> (memref<16xf32>)
  loop.launch @square(%y) -> (%z) : (memref<16xf32>) -> (memref<16xf32>)
  func.return %z : memref<16xf32>
}
loop.kernel @double(%x: memref<16xf32>) -> (%out: memref<16xf32>) {
  loop.for %i in 16 {
    %0 = loop.load %x[%i] : memref<16xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i] : memref<16xf32>
  }
}
loop.kernel @square(%x: memref<16xf32>) -> (%out: memref<16xf32>) {
  loop.for %i in 16 {
    %0 = loop.load %x[%i] : memref<16xf32>
    %1 = arith.mulf %0, %0 : f32
    loop.store %1, %out[%i] : memref<16xf32>
  }
}
func.func @idle() {
  func.return
}
"""


def plan() -> ModuleOp:
    """Return the module of the text above."""
    return Parser(context(), PLAN).parse_module()


def name(part: Operation) -> str:
    """Return the symbol of a function or kernel."""
    symbol = part.properties["sym_name"]
    assert isinstance(symbol, StringAttr)
    return symbol.data


def changed_by(change: Callable[[ModuleOp], None]) -> list[str]:
    """Return the parts of the plan that are found changed after `change`."""
    module, changes = plan(), Changes()
    assert [name(part) for part in changes.since_last(module)] == [
        "main",
        "double",
        "square",
        "idle",
    ]
    assert changes.since_last(module) == []
    change(module)
    found = [name(part) for part in changes.since_last(module)]
    assert changes.since_last(module) == []
    return found


def the(module: ModuleOp, kind: type[Operation]) -> Operation:
    """Return the first op of that kind."""
    return next(op for op in module.walk() if isinstance(op, kind))


def kernel(module: ModuleOp, symbol: str) -> loop.KernelOp:
    """Return the kernel of that name."""
    kernels = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return next(op for op in kernels if op.sym_name.data == symbol)


def set_property(module: ModuleOp) -> None:
    the(module, MulfOp).properties["fastmath"] = StringAttr("none")


def set_attribute(module: ModuleOp) -> None:
    the(module, MulfOp).attributes["note"] = UnitAttr()


def use_another_value(module: ModuleOp) -> None:
    store = kernel(module, "square").body.block.first_op
    assert isinstance(store, loop.ForOp)
    load, multiply, *_ = store.body.block.ops
    multiply.operands[0] = multiply.results[0]
    assert load.results


def retype_a_result(module: ModuleOp) -> None:
    Rewriter.replace_value_with_new_type(the(module, MulfOp).results[0], MemRefType(f32, []))


def retype_an_argument(module: ModuleOp) -> None:
    nest = kernel(module, "square").body.block.first_op
    assert isinstance(nest, loop.ForOp)
    Rewriter.replace_value_with_new_type(nest.body.block.args[0], f32)


def detach(module: ModuleOp) -> None:
    the(module, MulfOp).detach()


def swap(module: ModuleOp) -> None:
    multiply = the(module, MulfOp)
    block, before = multiply.parent, multiply.prev_op
    assert block is not None
    assert before is not None
    multiply.detach()
    block.insert_op_before(multiply, before)


def put_an_equal_op_in_its_place(module: ModuleOp) -> None:
    multiply = the(module, MulfOp)
    clone, block = multiply.clone(), multiply.parent
    assert block is not None
    block.insert_op_before(clone, multiply)
    multiply.results[0].replace_all_uses_with(clone.results[0])
    multiply.detach()
    multiply.erase()


IN_A_KERNEL = [
    set_property,
    set_attribute,
    use_another_value,
    retype_a_result,
    retype_an_argument,
    detach,
    swap,
    put_an_equal_op_in_its_place,
]


@pytest.mark.parametrize("change", IN_A_KERNEL)
def test_a_change_inside_a_kernel_is_one_of_that_kernel(change: Callable[[ModuleOp], None]):
    assert changed_by(change) == ["square"]


def move_into_another_kernel(module: ModuleOp) -> None:
    add, multiply = the(module, AddfOp), the(module, MulfOp)
    block = multiply.parent
    assert block is not None
    add.detach()
    block.insert_op_before(add, multiply)


def test_an_op_that_moves_changes_both_kernels():
    assert changed_by(move_into_another_kernel) == ["double", "square"]


def add_an_argument(module: ModuleOp) -> None:
    kernel(module, "square").body.block.insert_arg(MemRefType(f32, [16]), 0)


def rename(module: ModuleOp) -> None:
    kernel(module, "square").properties["sym_name"] = StringAttr("cube")


def erase(module: ModuleOp) -> None:
    gone = kernel(module, "square")
    gone.detach()
    gone.erase()


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (add_an_argument, ["main", "square"]),
        (rename, ["main", "cube"]),
        (erase, ["main"]),
    ],
)
def test_launches_of_a_kernel_are_checked_again_when_its_signature_changes(
    change: Callable[[ModuleOp], None], changed: list[str]
):
    assert changed_by(change) == changed


@dataclass(frozen=True)
class Do(ModulePass):
    """A pass that makes one of the changes above, without notifying listeners."""

    name = "do"
    change: Callable[[ModuleOp], None]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.change(op)


class Idle(ModulePass):
    """A pass that changes nothing."""

    name = "idle"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def lie_about_results(module: ModuleOp) -> None:
    idle = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "idle")
    idle.properties["function_type"] = FunctionType.from_lists([], [f32])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (use_another_value, "'arith.mulf': operand #0 is not defined before this use"),
        (swap, "'arith.mulf': operand #0 is not defined before this use"),
        (move_into_another_kernel, "'loop.store': operand #0 is not defined before this use"),
        (retype_a_result, "'arith.mulf'"),
        (add_an_argument, "'loop.launch': .*kernel @square takes"),
        (rename, "'loop.launch': .*no kernel @square"),
        (erase, "'loop.launch': .*no kernel @square"),
        (lie_about_results, "'func.return'"),
    ],
)
def test_the_pass_that_breaks_something_is_blamed(change: Callable[[ModuleOp], None], message: str):
    passes = [Idle(), Do(change), Idle()]
    with pytest.raises(InvalidOpError, match=message) as failure:
        PassManager(context()).run(plan(), passes)
    assert failure.value.made_by == "do"


def test_without_verify_each_the_end_is_verified():
    with pytest.raises(InvalidOpError, match="no kernel @square") as failure:
        PassManager(context(), verify_each=False).run(plan(), [Do(rename), Idle()])
    assert failure.value.made_by == "idle"


def test_without_verify_each_mistakes_may_be_mended_before_the_end():
    def mend(module: ModuleOp) -> None:
        kernel(module, "cube").properties["sym_name"] = StringAttr("square")

    passes = [Do(rename), Do(mend)]
    PassManager(context(), verify_each=False).run(plan(), passes)
    with pytest.raises(InvalidOpError, match="no kernel @square"):
        PassManager(context()).run(plan(), passes)


def test_unchanged_parts_are_not_verified_again(monkeypatch: pytest.MonkeyPatch):
    verified: list[Operation] = []
    verify = IRDLOperation.verify_

    def record(op: IRDLOperation) -> None:
        verified.append(op)
        verify(op)

    monkeypatch.setattr(loop.KernelOp, "verify_", record)
    module = plan()
    PassManager(context()).run(module, [Idle(), Do(set_attribute), Idle(), Idle()])
    first = last = [kernel(module, "double"), kernel(module, "square")]
    assert verified == [*first, kernel(module, "square"), *last]
