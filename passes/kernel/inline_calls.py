# SPDX-License-Identifier: Apache-2.0
"""
Inlines all functions that `@main` calls, so that it becomes one list of launches.

    func.func @main(%x, %w0, %w1) {
      %0 = func.call @block(%x, %w0)
      %1 = func.call @block(%0, %w1)
      return %1
    }
    func.func private @block(%x, %w) {
      %out = memref.alloc()
      loop.launch @linear(%x, %w) -> (%out)
      return %out
    }

becomes

    func.func @main(%x, %w0, %w1) {
      %out = memref.alloc()
      loop.launch @linear(%x, %w0) -> (%out)
      %out_1 = memref.alloc()
      loop.launch @linear(%out, %w1) -> (%out_1)
      return %out_1
    }

Kernels stay unchanged, one copy of each. Equal layers have been compiled only once before this
pass. After it, the buffers of each call can be placed separately.
"""

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tilewright.passes.facts.host_functions import reason_not_launched
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("k", 4, "inline_calls")

Functions = Mapping[str, func.FuncOp]


def inline_calls(function: func.FuncOp, functions: Functions, callers: tuple[str, ...]) -> None:
    """
    Replace each call in `function` by the ops of its callee, after inlining the calls in the
    callee. Raise an error for recursive calls and for callees without a body.
    """
    callers = (*callers, function.sym_name.data)
    if len(function.body.blocks) != 1:  # its types do not matter here
        raise refused(function, reason_not_launched(function))
    for call in [op for op in function.body.block.ops if isinstance(op, func.CallOp)]:
        name = call.callee.string_value()
        if name in callers:
            raise refused(call, f"@{name} calls itself, and would never return")
        if (callee := functions.get(name)) is None or callee.is_declaration:
            raise refused(call, f"@{name} is called, but is not in this module")
        inline_calls(callee, functions, callers)
        _inline(call, callee)


def _inline(call: func.CallOp, callee: func.FuncOp) -> None:
    block, body = call.parent, callee.body.block
    assert block is not None
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, call.arguments, strict=True))
    for op in body.ops:
        if isinstance(op, func.ReturnOp):
            for result, value in zip(call.results, op.arguments, strict=True):
                result.replace_all_uses_with(values[value])
            break
        clone = op.clone(values)
        clone.location = op.location
        block.insert_op_before(clone, call)
    call.detach()
    call.erase()


class InlineCallsPass(ModulePass):
    """Inline all functions that `@main` calls."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Inline all calls in `@main`, then erase the private functions, which have no callers left. A
        module without `@main` stays unchanged.
        """
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        if "main" not in functions:
            return
        with rewriting(RULE, functions["main"], whole_module=True):
            inline_calls(functions.pop("main"), functions, ())
            for function in filter(_is_private, functions.values()):
                function.detach()
                function.erase()


def _is_private(function: func.FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"
