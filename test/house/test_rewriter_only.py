# SPDX-License-Identifier: Apache-2.0
"""
Scheduling passes change the IR only through the rewriter of their pattern.

The walker and its listeners are therefore notified of every change.
"""

import ast
from collections.abc import Iterator
from functools import cache

from xdsl.irdl import IRDLOperation

from tilewright.dialects import loop, tile

from .test_layers import ROOT

PASSES = sorted((ROOT / "passes" / "tile").rglob("*.py"))

UNNOTIFIED = {
    "detach",
    "erase",
    "erase_arg",
    "erase_op",
    "inline_block",
    "insert_arg",
    "insert_op",
    "insert_op_after",
    "insert_op_before",
    "replace_all_uses_with",
    "replace_op",
    "replace_value_with_new_type",
}
"""Methods of ops, blocks, values and `Rewriter` that change the IR; a rewriter has its own."""

PROPERTIES = {
    name
    for op in (*loop.Loop.operations, *tile.Tile.operations)
    if issubclass(op, IRDLOperation)
    for name in ("operands", *op.get_irdl_definition().properties)
} - {"planned"}
"""
Fields of ops whose assignment changes the op. Patterns do not match on a kernel's planned steps,
which may therefore be assigned.
"""

PARTS = {"attributes", "operands", "properties"}
"""Fields of ops whose items are assigned to change the op."""

EXCEPTIONS = {
    "apply_schedule._apply": "a kernel moves into a module of its own, and back",
    "box_axes._box_digits": "the stage that is tried has not been inserted",
    "chunking._fill": "`unroll` is that of a new op",
    "permute_register_tile.arranged": "the launch that is tried has not been inserted",
    "rebind.add": "the axis is that of a new launch",
    "share_scores._shared": "the bounds are those of a new op",
    "split_matmul_k._part": "the bounds are those of a new op",
    "steps_to_threads._store_once": "the clone has not been inserted",
    "warp_tiles.arranged": "the launch that is tried has not been inserted",
}
"""Functions that change ops in another way, each with the reason for its exception."""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield all functions and methods of a file."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def changes(function: ast.FunctionDef) -> Iterator[str]:
    """Yield a function's changes to the IR of which no rewriter is notified."""
    nodes = [*ast.walk(function)]
    methods = [
        n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    ]
    for method in methods:
        if method.attr in UNNOTIFIED and ast.unparse(method.value) != "rewriter":
            yield f"{ast.unparse(method)}()"
    if any(method.attr == "notify_op_modified" for method in methods):
        return
    yield from (f"{ast.unparse(m)}()" for m in methods if m.attr == "set_bounds")
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if node.attr in PROPERTIES and ast.unparse(node.value) != "self":
                yield f"{ast.unparse(node)} = ..."
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Attribute) and node.value.attr in PARTS:
                yield f"{ast.unparse(node)} = ..."


def unnotified(text: str) -> dict[str, list[str]]:
    """Return the changes of which no rewriter is notified, by the function that makes them."""
    found: dict[str, list[str]] = {}
    for function in functions(ast.parse(text)):
        for change in changes(function):
            found.setdefault(function.name, []).append(change)
    return found


@cache
def found() -> dict[str, list[str]]:
    """Return the changes of all passes of which no rewriter is notified, by function."""
    return {
        f"{path.stem}.{name}": each
        for path in PASSES
        for name, each in unnotified(path.read_text()).items()
    }


def test_all_changes_go_through_the_rewriter():
    assert len(PASSES) > 50
    wrong = {name: each for name, each in found().items() if name not in EXCEPTIONS}
    assert wrong == {}, "use the pattern's rewriter, or notify_op_modified"


def test_every_exception_is_needed():
    assert found().keys() >= EXCEPTIONS.keys()


def test_unnotified_changes_are_found():
    text = """
def a(op, rewriter):
    op.ring = None
    rewriter.notify_op_modified(op)
    rewriter.erase(op)
    op.slab.name_hint = "s"
def b(op):
    op.ring, kept = None, op.unroll
def c(op, block):
    op.detach()
    block.erase_op(op)
    Rewriter.replace_op(op, [])
def d(op):
    op.set_bounds(None, None)
def e(op):
    op.operands[0], indices[0] = None, None
"""
    assert unnotified(text) == {
        "b": ["op.ring = ..."],
        "c": ["op.detach()", "block.erase_op()", "Rewriter.replace_op()"],
        "d": ["op.set_bounds()"],
        "e": ["op.operands[0] = ..."],
    }
