# SPDX-License-Identifier: Apache-2.0
"""Inputs that a graph of Dynamo's writes in place: which outputs and other inputs they are."""

from collections.abc import Collection, Sequence
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.overlap import overlaps_itself

_HIDDEN_VIEWS = ("dropout", "einsum")
"""
In the names of functions whose result may be a view, which Dynamo takes for a new tensor
(`kept_views.py`).
"""


def is_output(graph: Any, output: int, position: int) -> bool:
    """
    True if an output of a graph lies in the memory of an input, as Dynamo saw it run. It is known
    to be a view of what the input becomes.
    """
    from torch.utils import _pytree as pytree

    leaf = pytree.tree_leaves(graph.graph.output_node().args[0])[output]
    input = graph.graph.find_nodes(op="placeholder")[position]
    node, place = leaf, _storage(input)
    while node is not None and place is not None and (found := _storage(node)) is not None:
        if found == place:
            return True
        node = next((n for n in node.all_input_nodes if _is_base(n, node)), None)
    if node is None:
        return False
    raise UnsupportedError(f"whether {leaf.name} is a view of the input {input.name} is unknown")


def _storage(node: Any) -> Any:
    """Where the value of a node lies; None where it is no tensor that Dynamo knows."""
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    value = node.meta.get("example_value")
    reference: Any = StorageWeakRef
    return reference(value.untyped_storage()).cdata if isinstance(value, torch.Tensor) else None


def _is_base(node: Any, view: Any) -> bool:
    """True if `view` may be a view of a node."""
    name = str(getattr(view.target, "__name__", view.target))
    return any(hidden in name for hidden in _HIDDEN_VIEWS) or _storage(node) == _storage(view)


def share_memory(inputs: Sequence[Any], written: Collection[int]) -> bool:
    """
    True if an element of the inputs that are written may be another one too, of any input.

    The program was captured with separate ones, and would not see the change.
    """
    import torch

    tensors = {n: v for n, v in enumerate(inputs) if isinstance(v, torch.Tensor)}
    spans = {n: _span(tensor) for n, tensor in tensors.items()}
    if any(overlaps_itself(tensors[n]) for n in written):
        return True
    return any(
        n != other and spans[n][0] < spans[other][1] and spans[other][0] < spans[n][1]
        for n in written
        for other in spans
    )


def _span(tensor: Any) -> tuple[int, int]:
    """
    Return the addresses from a tensor's first byte to behind its last; devices have different ones.
    """
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in steps)
    return start, start + (last + 1) * tensor.element_size()
