# SPDX-License-Identifier: Apache-2.0
"""Rules as PDL text (`--pdl FILE`): each `pdl.pattern` is one, applied by xDSL's interpreter."""

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.interpreters.pdl import PDLRewritePattern
from xdsl.ir import Operation

from tilewright.dialects.origin import place_of
from tilewright.dialects.prim import Prim
from tilewright.errors import UsageError, did_you_mean
from tilewright.passes.driver.lowering import context
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.rules.rule import Rule


def pdl_rules(path: str) -> list[Rule]:
    """Return the rules of a file; raises an error with its place for text that is no rule."""
    patterns = [op for op in read_module(path).walk() if isinstance(op, pdl.PatternOp)]
    if not patterns:
        raise UsageError(f"'{path}' has no pdl.pattern")
    return [_rule(pattern, number) for number, pattern in enumerate(patterns)]


def _rule(pattern: pdl.PatternOp, number: int) -> Rule:
    rewrite = pattern.body.block.last_op
    if not isinstance(rewrite, pdl.RewriteOp) or rewrite.root is None:
        message = "a pattern ends with a pdl.rewrite that has a root"
        raise UsageError(message, where=place_of(rewrite or pattern))
    _refuse_natives(pattern)
    ctx = context()
    classes = {op: _class(op, ctx) for op in pattern.walk() if isinstance(op, pdl.OperationOp)}
    root = rewrite.root.owner
    assert isinstance(root, pdl.OperationOp)
    name = f"pattern {number}" if pattern.sym_name is None else pattern.sym_name.data
    kind = classes[root]
    return Rule(name, PDLRewritePattern(rewrite, ctx), () if kind is None else (kind,))


def _refuse_natives(pattern: pdl.PatternOp) -> None:
    """Raise an error for a function that PDL text only names."""
    for op in pattern.walk():
        is_native = isinstance(op, pdl.ApplyNativeConstraintOp | pdl.ApplyNativeRewriteOp)
        name = op.properties.get("name") if is_native or isinstance(op, pdl.RewriteOp) else None
        if name is not None:
            raise UsageError(
                f"the native function {name} is not available here", where=place_of(op)
            )


def _class(op: pdl.OperationOp, ctx: Context) -> type[Operation] | None:
    """Return the class of the ops that a `pdl.operation` matches or makes; None for any class."""
    if op.opName is None:
        return None
    name = op.opName.data
    if (found := ctx.get_optional_op(name)) is None:
        remedy = did_you_mean(name, [each.name for each in Prim.operations])
        raise UsageError(f"there is no op '{name}'", where=place_of(op), remedy=remedy)
    return found
