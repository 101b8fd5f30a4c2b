# SPDX-License-Identifier: Apache-2.0
"""
Smaller modules of IR: each has one thing less than the given one.

    kernels    one kernel, without the function that launches it
    results    one result of a function; the value of an op as the only result
    ops        an op replaced by an argument, by one of its operands, or by the constant 1
    launches   a launch, whose outputs become arguments

Unused ops, arguments, launches and kernels are then removed. A module may be ill-formed.
"""

from collections.abc import Callable, Iterator

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.loop import LaunchOp
from tilewright.tools.blame.unused import without_unused

_Edit = Callable[[Operation], bool]
"""Function that makes a part of a module smaller at an op; it returns False if it cannot."""


def smaller_modules(module: ModuleOp) -> Iterator[ModuleOp]:
    """Yield modules with one thing less; those that may lose most come first."""
    yield from _lone_kernels(module)
    ops = ops_in(module)
    for at, op in enumerate(ops):
        for edit in _edits_of_results(op):
            yield from _edited(module, at, edit)
    for at in reversed(range(len(ops))):
        for edit in _edits_of_ops(ops[at]):
            yield from _edited(module, at, edit)


def _lone_kernels(module: ModuleOp) -> Iterator[ModuleOp]:
    kernels = [op for op in module.ops if isinstance(op, KernelLikeOp)]
    if len([*module.ops]) > 1:
        for kernel in kernels:
            yield without_unused(ModuleOp([kernel.clone()]))


def _edits_of_results(op: Operation) -> Iterator[_Edit]:
    """Yield the edits by which a function returns one value only."""
    if isinstance(op, func.ReturnOp) and len(op.operands) > 1:
        for position in range(len(op.operands)):
            yield lambda op, at=position: _returned(op, op.operands[at])
    elif isinstance(op.parent_op(), func.FuncOp):
        for position, result in enumerate(op.results):
            if isinstance(result.type, TensorType | MemRefType):
                yield lambda op, at=position: _returned(op, op.results[at])


def _edits_of_ops(op: Operation) -> Iterator[_Edit]:
    if isinstance(op, LaunchOp):
        yield _without_launch
        return
    if not op.results or isinstance(op, arith.ConstantOp):
        return
    if isinstance(op.parent_op(), func.FuncOp) and not isinstance(op, memref.AllocOp):
        yield _as_arguments
    if len(op.results) != 1:
        return
    for position, operand in enumerate(op.operands):
        if operand.type == op.results[0].type:
            yield lambda op, at=position: _as_value(op, op.operands[at])
    if isinstance(op.results[0].type, AnyFloat | IntegerType):
        yield _as_constant


def _edited(module: ModuleOp, at: int, edit: _Edit) -> Iterator[ModuleOp]:
    """Yield a copy of the module with its op number `at` edited, if that is possible."""
    copy = module.clone()
    if edit(ops_in(copy)[at]):
        yield without_unused(copy)


def _returned(op: Operation, value: SSAValue) -> bool:
    """Make `value` the only result of the function of `op`."""
    function = op.parent_op()
    assert isinstance(function, func.FuncOp)
    end = function.body.block.last_op
    assert end is not None
    if [*end.operands] == [value] or (function.res_attrs and len(end.operands) > 1):
        return False
    Rewriter.replace_op(end, func.ReturnOp(value))
    function.update_function_type()
    return True


def _as_arguments(op: Operation) -> bool:
    """Replace the results of an op by arguments of its function."""
    function = op.parent_op()
    assert isinstance(function, func.FuncOp)
    block = function.body.block
    added = [block.insert_arg(result.type, len(block.args)) for result in op.results]
    for argument, result in zip(added, op.results, strict=True):
        argument.name_hint = result.name_hint
    _add_attributes(function, len(added))
    Rewriter.replace_op(op, [], added)
    function.update_function_type()
    return True


def _without_launch(op: Operation) -> bool:
    """Remove a launch, and turn the buffers that it writes into arguments."""
    assert isinstance(op, LaunchOp)
    allocs = [value.owner for value in op.outputs]
    Rewriter.erase_op(op)
    return all(isinstance(each, memref.AllocOp) and _as_arguments(each) for each in allocs)


def _as_value(op: Operation, value: SSAValue) -> bool:
    Rewriter.replace_op(op, [], [value])
    return True


def _as_constant(op: Operation) -> bool:
    type = op.results[0].type
    if isinstance(type, AnyFloat):
        one = arith.ConstantOp(FloatAttr(1.0, type))
    else:
        assert isa(type, IntegerType)
        one = arith.ConstantOp.from_int_and_width(1 if type.width.data > 1 else -1, type)
    Rewriter.replace_op(op, one)
    return True


def _add_attributes(function: func.FuncOp, added: int) -> None:
    """Give new arguments of a function no attributes, if the other ones have attributes."""
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr([*function.arg_attrs, *[DictionaryAttr({})] * added])
