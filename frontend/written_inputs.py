# SPDX-License-Identifier: Apache-2.0
"""
Inputs that a graph from Dynamo writes in place: the outputs and other inputs that share their
memory.
"""

from collections.abc import Collection, Sequence
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.overlap import overlaps_itself

_HIDDEN_VIEWS = ("dropout", "einsum")
"""
Parts of the names of functions whose result may be a view, although Dynamo takes it for a new
tensor (`kept_views.py`).
"""


def is_output(graph: Any, output: int, position: int) -> bool:
    """
    True if an output of a graph shares the memory of an input, in the run that Dynamo recorded.

    The output must be a view of the input's new value. Raises `UnsupportedError` if it cannot be
    decided.
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
    """
    Return an identifier of the memory of a node's value; None if Dynamo recorded no tensor for it.
    """
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    value = node.meta.get("example_value")
    reference: Any = StorageWeakRef
    return reference(value.untyped_storage()).cdata if isinstance(value, torch.Tensor) else None


def _is_base(node: Any, view: Any) -> bool:
    """
    True if `view` may be a view of `node`: they share memory, or its function may return a hidden
    view.
    """
    name = str(getattr(view.target, "__name__", view.target))
    return any(hidden in name for hidden in _HIDDEN_VIEWS) or _storage(node) == _storage(view)


def share_memory(inputs: Sequence[Any], written: Collection[int]) -> bool:
    """
    True if an element of a written input may overlap another element of any input.

    The program was captured with separate tensors, and would not see the change.
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
    Return the addresses of a tensor's first byte and of the byte after its last. Addresses of
    different devices are different.
    """
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in steps)
    return start, start + (last + 1) * tensor.element_size()
