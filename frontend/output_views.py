# SPDX-License-Identifier: Apache-2.0
"""
Outputs that are views of an input, or of a computed result.

Kernels write results into memory of their own. In PyTorch, `return x[0], y, y.T` returns a part of
`x`, and `y` twice: an in-place write to one of them changes the other. Therefore views at the end
of a program are removed, and PyTorch makes them from their bases, at no cost. A view at a number
that the graph computes, such as `x[p]` with a tensor `p`, stays in the graph.
"""

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tilewright.errors import UnsupportedError

Base = str | int
"""Base of a view: an input of the program by name, or a result of it by number."""


@dataclass(frozen=True)
class View:
    """
    Output that is a chain of views of a base; the chain is empty if the output is the base itself.
    """

    base: Base
    calls: tuple[tuple[Any, tuple[Any, ...], Mapping[str, Any]], ...] = ()
    """Operator of each view in order, with its arguments after the first."""

    def of(self, inputs: Mapping[str, Any], results: Sequence[Any]) -> Any:
        """Return the output for the inputs and results of a call."""
        tensor = inputs[self.base] if isinstance(self.base, str) else results[self.base]
        for target, args, kwargs in self.calls:
            tensor = target(tensor, *args, **kwargs)
        return tensor


@dataclass(frozen=True)
class Value:
    """Output that is a Python value."""

    value: Any

    def of(self, inputs: Mapping[str, Any], results: Sequence[Any]) -> Any:
        """Return the value."""
        return self.value


def separate_views(
    exported: Any, is_input: Callable[[int, str], bool]
) -> tuple[list[str], list[View | Value]]:
    """
    Make an exported program return the values that it writes in place, and the bases of its
    outputs.

    `is_input` takes an output's number and the name of a written input, and is true if they share
    memory. The graph does not show this: `x.add_(1); return x.T` and `y = x + 1; x.copy_(y); return
    y.T` have equal graphs.

    Returns the graph's inputs that are written, in the order of their new values, and the outputs
    of the user's function, in terms of the graph's inputs and results. Raises `UnsupportedError`
    where a view that stays in the graph is a view of a written input.
    """
    from torch.export.graph_signature import OutputKind
    from torch.fx import Node

    specs = exported.graph_signature.output_specs
    count = sum(spec.kind is not OutputKind.USER_OUTPUT for spec in specs)
    written = _written(exported.graph_signature, specs[:count])
    values = list(exported.graph.output_node().args[0])
    results = values[:count]
    outputs: list[View | Value] = []
    for position, value in enumerate(values[count:]):
        if not isinstance(value, Node):
            outputs.append(Value(value))
            continue
        node, calls = _base(value, {*results[:count]})
        if _is_part_of(node, {*results[:count]}):
            raise UnsupportedError(
                "the program returns a part of an input that it writes, at a tensor subscript",
                remedy="return the input itself, or a copy of the part",
            )
        news = zip(results[:count], written, strict=True)
        inputs = [name for new, name in news if new is node and is_input(position, name)]
        if node.op == "placeholder" and node.name not in written:
            inputs = [node.name]
        if not inputs and node not in results:
            results.append(node)
        outputs.append(View(inputs[0] if inputs else results.index(node), calls))
    _return(exported, results, count)
    return written, outputs


def _return(exported: Any, results: Sequence[Any], count: int) -> None:
    """
    Make an exported program return `results`. The first `count` of them stay the new values of
    tensors that it writes in place.
    """
    from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument

    exported.graph.output_node().args = (tuple(results),)
    exported.graph_signature.output_specs[count:] = [
        OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=node.name), None)
        for node in results[count:]
    ]
    exported.graph.eliminate_dead_code()
    exported.graph_module.recompile()


def _written(signature: Any, specs: Sequence[Any]) -> list[str]:
    """
    Return the names of the graph's inputs that are written in place, in the order of their new
    values.
    """
    nodes = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target}
    return [nodes.get(spec.target, spec.target) for spec in specs]


def _base(node: Any, known: Collection[Any]) -> tuple[Any, tuple[Any, ...]]:
    """
    Return the node that `node` is a view of, and the view calls that lead from it to `node`. Nodes
    in `known` are not traced further back.
    """
    calls: list[Any] = []
    while node not in known and is_view(node) and len(node.all_input_nodes) == 1:
        first, *rest = node.args
        calls.append((node.target, tuple(rest), node.kwargs))
        node = first
    return node, tuple(reversed(calls))


def _is_part_of(node: Any, known: Collection[Any]) -> bool:
    """
    True if a node is a view of a node in `known`, directly or through other views, and is not in
    `known` itself.
    """
    if node in known or not is_view(node):
        return False
    return node.args[0] in known or _is_part_of(node.args[0], known)


def is_view(node: Any) -> bool:
    """True if an FX node makes a view, or takes one out of several."""
    from torch._ops import OpOverload

    target: Any = node.target
    if target is operator.getitem:
        return is_view(node.args[0])
    return isinstance(target, OpOverload) and bool(cast(Any, target).is_view)
