# SPDX-License-Identifier: Apache-2.0
"""
Reading of a program into a partition, statement by statement. Parts of captured statements that can
run outside are evaluated at once.
"""

import ast
from typing import Any, cast

from tilewright.frontend.partition import Partition

_EXPRESSIONS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


def read(partition: Partition, statement: ast.stmt) -> None:
    """Run the next statement outside, or add it to the captured function's body."""
    if partition.bind_inputs(statement):
        return
    if partition.runs_outside(statement):
        partition.run(statement)
        return
    # A loop or a branch makes its values anew each time: only plain statements are taken apart.
    if isinstance(statement, _EXPRESSIONS):
        statement = cast(ast.stmt, _Hoist(partition).visit(statement))
    partition.add(statement)


class _Hoist(ast.NodeTransformer):
    """
    Transformer that evaluates the parts of an expression that can run outside, and replaces them by
    names.
    """

    def __init__(self, partition: Partition):
        self.partition = partition

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """
        Return a list of inputs in place of a comprehension that makes them: `[torch.randn(4) for _
        in range(3)]` is three inputs. Other comprehensions are returned unchanged.
        """
        if not self.partition.is_constant(node) or not self.partition.is_input(node.elt):
            return node
        made = ast.ListComp(node.elt, node.generators)
        values = self.partition.evaluate(ast.copy_location(made, node))
        names = [ast.Name(self._name(value), ast.Load()) for value in values]
        return ast.fix_missing_locations(ast.copy_location(ast.List([*names], ast.Load()), node))

    visit_GeneratorExp = visit_ListComp

    def _leave(self, node: ast.expr) -> ast.expr:
        # A function makes its tensors at each call; a set or a dict of tensors is no input.
        return node

    visit_Lambda = visit_SetComp = visit_DictComp = _leave

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not self._runs_outside(node):
            return cast(ast.expr, self.generic_visit(node))
        name = self._name(self.partition.evaluate(node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _runs_outside(self, call: ast.Call) -> bool:
        if not self.partition.is_constant(call):
            return False
        makes_input = self.partition.makes_input(call)
        return self.partition.is_input(call) or self._makes_module(call) or not makes_input

    def _makes_module(self, call: ast.Call) -> bool:
        """True if a call is of a module class, or of a class method of one."""
        from torch import nn

        callee = self.partition.resolve(call.func)
        owner = getattr(callee, "__self__", callee)
        return isinstance(owner, type) and issubclass(owner, nn.Module)

    def _name(self, value: Any) -> str:
        """Give a name to a value made outside, as an input if it is a tensor; return the name."""
        import torch

        if isinstance(value, torch.Tensor):
            return self.partition.new_input(value)
        name = self.partition.fresh_name(type(value).__name__.lower())
        self.partition.outside[name] = value
        return name
