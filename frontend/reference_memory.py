# SPDX-License-Identifier: Apache-2.0
"""Memory that PyTorch takes to compute what the results of a captured program should be."""

from collections.abc import Iterator
from typing import Any

from tilewright.frontend.capture import Captured

_NUDGING = 32
"""Bytes for each element of a result that is nudged: its sign, twice, the factor, the product."""


def bytes_of_reference(captured: Captured) -> int:
    """
    Return about how many bytes `frontend.reference.disturbed` holds at once, the largest of the
    runs: values in float64 as long as they are used, and what nudging them takes.
    """
    given = sum(i.tensor.numel() * i.tensor.element_size() for i in captured.inputs)
    graph = captured.exported.graph
    last_use = {used: node for node in graph.nodes for used in node.all_input_nodes}
    freed: dict[Any, list[Any]] = {}
    for node, user in last_use.items():
        freed.setdefault(user, []).append(node)
    live = peak = 0
    for node in graph.nodes:
        elements = sum(tensor.numel() for tensor in _tensors_of(node))
        live += 8 * elements
        peak = max(peak, live + _NUDGING * elements)
        live -= sum(8 * t.numel() for used in freed.get(node, ()) for t in _tensors_of(used))
    return given + peak


def _tensors_of(node: Any) -> Iterator[Any]:
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(node.meta.get("val"))
    return (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
