# SPDX-License-Identifier: Apache-2.0
"""
Refusal of in-place writes to views that PyTorch's functionalization, and therefore `torch.compile`,
gets wrong.

Functionalization writes a changed view back to its base by an inverse of the view. Two inverses are
wrong:

- `expand`, if elements that share memory are written: `x.expand(2, 3).fill_(1)`.
- `unfold`, if an element of the base is in no window, where it becomes 0, or in several.
"""

from collections.abc import Iterator
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.overlap import overlaps_itself
from tilewright.frontend.source import place_of_node


def check_view_writes(exported: Any) -> None:
    """
    Raise `UnsupportedError` for an in-place write to a view of `expand` or `unfold` that gives
    wrong results. The graph must still contain in-place writes.
    """
    for node in exported.graph.nodes:
        for written in _written_by(node):
            if _shares_places(written.meta.get("val")):
                found = "a tensor with elements that share memory with each other"
            elif any(map(_is_partial_unfold, _views_to(written))):
                found = "windows of a tensor (unfold), which do not hold each element once"
            else:
                continue
            raise UnsupportedError(
                f"{node.target} (node {node.name}) writes to {found}",
                where=str(place_of_node(node) or ""),
                remedy="write to the base of the view, or to a clone",
            )


def _written_by(node: Any) -> Iterator[Any]:
    """Yield the arguments that an operator writes in place."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return
    named = zip((argument.name for argument in schema.arguments), node.args, strict=False)
    given = {**dict(named), **node.kwargs}
    for argument in schema.arguments:
        info, value = argument.alias_info, given.get(argument.name)
        if info is not None and info.is_write and hasattr(value, "meta"):
            yield value


def _views_to(node: Any) -> Iterator[Any]:
    """Yield the views between `node` and the tensor whose memory it shares, last view first."""
    while _gives_its_argument(node):
        yield node
        node = node.args[0]


def _gives_its_argument(node: Any) -> bool:
    """True if a call returns a view of its first argument, or the argument itself."""
    arguments = getattr(getattr(node.target, "_schema", None), "arguments", ())
    return len(arguments) > 0 and arguments[0].alias_info is not None


def _shares_places(tensor: Any) -> bool:
    import torch

    if not isinstance(tensor, torch.Tensor):
        return False
    numbers: list[Any] = [*tensor.shape, *tensor.stride()]
    is_open = any(isinstance(number, torch.SymInt) for number in numbers)
    return not is_open and overlaps_itself(tensor)


def _is_partial_unfold(node: Any) -> bool:
    import torch

    if node.target is not torch.ops.aten.unfold.default:
        return False
    base, dim, size, step = node.args
    extent = base.meta["val"].shape[dim] if base.meta["val"].dim() else 1
    return size != step or extent % step != 0
