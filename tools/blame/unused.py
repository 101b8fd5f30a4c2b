# SPDX-License-Identifier: Apache-2.0
"""Removal of unused ops, arguments, launches, functions and kernels from a module."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.loop import LaunchOp
from tilewright.passes.facts.effects import erase_dead


def without_unused(module: ModuleOp) -> ModuleOp:
    """Remove everything that is not used from a module, and return the module."""
    for op in [*module.ops]:
        if isinstance(op, func.FuncOp | KernelLikeOp) and op.regions[0].blocks:
            while erase_dead(op.regions[0]) or _erase_launches(op):
                pass
    called = _called(module)
    for op in [*module.ops]:
        if _is_unused(op, called):
            Rewriter.erase_op(op)
        elif isinstance(op, func.FuncOp | KernelLikeOp) and _symbol(op) not in called:
            _drop_arguments(op)
    return module


def _erase_launches(scope: Operation) -> bool:
    """Erase launches whose outputs nothing reads; return True if there was one."""
    unread = [
        op for op in scope.walk() if isinstance(op, LaunchOp) and all(map(_is_unread, op.outputs))
    ]
    for op in unread:
        Rewriter.erase_op(op)
    return bool(unread)


def _is_unread(buffer: SSAValue) -> bool:
    return isinstance(buffer.owner, memref.AllocOp) and len([*buffer.uses]) == 1


def _called(module: ModuleOp) -> set[str]:
    found = set[str]()
    for op in module.walk():
        if isinstance(op, LaunchOp):
            found.add(op.kernel.string_value())
        if isinstance(op, func.CallOp):
            found.add(op.callee.string_value())
    return found


def _symbol(op: func.FuncOp | KernelLikeOp) -> str:
    return op.sym_name.data


def _is_unused(op: Operation, called: set[str]) -> bool:
    """True for a function or kernel that nothing calls, in a module that has `@main`."""
    if not isinstance(op, func.FuncOp | KernelLikeOp) or _symbol(op) in {*called, "main"}:
        return False
    module = op.parent_op()
    assert isinstance(module, ModuleOp)
    return any(isinstance(other, func.FuncOp) and _symbol(other) == "main" for other in module.ops)


def _drop_arguments(op: func.FuncOp | KernelLikeOp) -> None:
    """Drop the arguments that a function does not use, and the unused inputs of a kernel."""
    block: Block = op.regions[0].block
    inputs = len(op.inputs) if isinstance(op, KernelLikeOp) else len(block.args)
    for argument in reversed(block.args[:inputs]):
        if argument.first_use is not None:
            continue
        if op.arg_attrs is not None:
            attributes = cast(Sequence[DictionaryAttr], op.arg_attrs.data)
            kept = [each for at, each in enumerate(attributes) if at != argument.index]
            op.arg_attrs = ArrayAttr(kept)
        block.erase_arg(argument)
    if isinstance(op, func.FuncOp):
        op.update_function_type()
