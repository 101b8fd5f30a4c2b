# SPDX-License-Identifier: Apache-2.0
"""Inputs that a graph of Dynamo's writes in place: which outputs and other inputs they are."""

from collections.abc import Collection, Sequence
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.overlap import overlaps_itself


def is_output(graph: Any, output: int, position: int) -> bool:
    """Whether an output of a graph lies in the memory of an input, as Dynamo saw it run."""
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils import _pytree as pytree

    leaf = pytree.tree_leaves(graph.graph.output_node().args[0])[output]
    input = graph.graph.find_nodes(op="placeholder")[position]
    one, other = (node.meta.get("example_value") for node in (leaf, input))
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise UnsupportedError(
            f"whether {leaf.name} is a view of the input {input.name} is unknown"
        )
    reference: Any = StorageWeakRef
    return reference(one.untyped_storage()) == reference(other.untyped_storage())


def share_memory(inputs: Sequence[Any], written: Collection[int]) -> bool:
    """
    Whether an element of the inputs that are written may be another one too, of any input.

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
    """The addresses from a tensor's first byte to behind its last; devices have different ones."""
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in steps)
    return start, start + (last + 1) * tensor.element_size()
