# SPDX-License-Identifier: Apache-2.0
"""
Rewriting of operators that return their input or a view of it, although their schema does not
declare that.

The operators are dropout in eval mode, an einsum that only permutes dimensions or takes diagonals,
and the unsafe variants of chunk and split.

    %y = aten.einsum("iij->ji", [%x])      becomes      %d = aten.diagonal(%x, 0, 0, 1)
                                                        %y = aten.permute(%d, [0, 1])

When PyTorch makes a program functional, it takes their result for a new tensor. Later in-place
writes to the result would not reach the input, nor the other way around.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Call = tuple[Any, tuple[Any, ...]]
"""Operator of a call, and its arguments after the first."""


def keep_views(exported: Any) -> None:
    """
    Replace calls that return a hidden view, in an exported program, by view operators or by their
    input.
    """
    graph, signature = exported.graph, exported.graph_signature
    safe = _safe_variants()
    for node in [*graph.nodes]:
        node.target = safe.get(node.target, node.target)
        if node.op != "call_function" or (calls := _calls_of(node)) is None:
            continue
        view = _input_of(node)
        with graph.inserting_before(node):
            for target, args in calls:
                view = _added(graph, target, (view, *args), node)
        node.replace_all_uses_with(view)
        signature.replace_all_uses(node.name, view.name)
        graph.erase_node(node)
    exported.graph_module.recompile()


def _safe_variants() -> Mapping[Any, Any]:
    """Return the operators whose schemas declare a view, by the unsafe variants that do not."""
    import torch

    aten = torch.ops.aten
    return {
        aten.unsafe_chunk.default: aten.chunk.default,
        aten.unsafe_split.Tensor: aten.split.Tensor,
        aten.unsafe_split_with_sizes.default: aten.split_with_sizes.default,
    }


def _calls_of(node: Any) -> list[Call] | None:
    """
    Return the view calls that a node is equivalent to: empty if it is its input, None if it is no
    view.
    """
    import torch

    aten = torch.ops.aten
    dropouts = (aten.dropout, aten.feature_dropout, aten.alpha_dropout, aten.feature_alpha_dropout)
    if node.target in [dropout.default for dropout in dropouts]:
        _, share, trains = node.args
        return None if trains and share else []
    if node.target is not aten.einsum.default or len(node.args[1]) != 1:
        return None
    return _views_of_einsum(node.args[0], _input_of(node).meta["val"].dim())


def _input_of(node: Any) -> Any:
    return node.all_input_nodes[0]


def _added(graph: Any, target: Any, args: tuple[Any, ...], like: Any) -> Any:
    """Return a new node with the metadata of the node `like`, and its own value."""
    node = graph.call_function(target, args)
    first, *rest = args
    node.meta = {**like.meta, "val": target(first.meta["val"], *rest)}
    return node


def _views_of_einsum(equation: str, rank: int) -> list[Call] | None:
    """
    Return the view calls that an einsum of one tensor is equivalent to; None if it makes a new
    tensor, or is invalid.
    """
    import torch

    left, arrow, right = equation.replace(" ", "").partition("->")
    rest = range(rank - len(left.replace("...", "")))
    if not arrow:
        right = "..." * ("..." in left) + "".join(sorted(c for c in {*left} if left.count(c) == 1))
    labels, outputs = _labels(left, rest), _labels(right, rest)
    if len(labels) != rank or sorted({*map(str, labels)}) != sorted(map(str, outputs)):
        return None
    calls: list[Call] = []
    while (pair := _first_pair(labels)) is not None:
        first, second = pair
        calls.append((torch.ops.aten.diagonal.default, (0, first, second)))
        label = labels.pop(second)
        labels.remove(label)
        labels.append(label)
    order = [labels.index(label) for label in outputs]
    return [*calls, (torch.ops.aten.permute.default, (order,))]


def _first_pair(labels: Sequence[str | int]) -> tuple[int, int] | None:
    """
    Return the first two positions of a label that occurs more than once; None if there is none.
    """
    repeated = [label for label in labels if labels.count(label) > 1]
    if not repeated:
        return None
    first = labels.index(repeated[0])
    return first, labels.index(repeated[0], first + 1)


def _labels(subscripts: str, rest: range) -> list[str | int]:
    """
    Return a label for each dimension: its letter, or a number for a dimension that `...` covers.
    """
    before, dots, after = subscripts.partition("...")
    return [*before, *(rest if dots else ()), *after]
