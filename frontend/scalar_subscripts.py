# SPDX-License-Identifier: Apache-2.0
"""
Subscripts that are integer tensors without dimensions: `x[p]`, `x[:, p] = y`.

PyTorch takes a tensor without dimensions for a number and reads its value, which export cannot
know. With `subscripts_as_tensors` it stays a tensor. `x[:, p]` reads a slice of one element at `p`
with `index`, and drops that dimension; a write uses `index_put`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

from tilewright.frontend.scalar_views import ScalarViews
from tilewright.frontend.wrapped_forward import Forward, wrapped_forward


def subscripts_as_tensors(module: Any) -> AbstractContextManager[None]:
    """
    Return a context in which the code of `module` may use integer tensors without dimensions as
    subscripts.

    The mode is entered within `forward`, where it takes precedence over the modes of export.
    """

    def wrap(original: Forward) -> Forward:
        def forward(*args: Any, **kwargs: Any) -> Any:
            views = ScalarViews(_read, _write)
            with _mode(views):
                result = original(*args, **kwargs)
            views.refresh(_tensors(result))
            return result

        return forward

    return wrapped_forward(module, wrap)


def _mode(views: ScalarViews) -> Any:
    import torch
    from torch.overrides import TorchFunctionMode

    class Subscripts(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            used = _tensors((args, kwargs)) if views else []
            views.refresh(used)
            result = _called(func, args, kwargs)
            views.store(used)
            return result

    def _called(func: Any, args: Any, kwargs: Any) -> Any:
        if func is torch.Tensor.__getitem__ and _has_scalar(args[1]):
            return views.read(*args) if _is_view(args[1]) else _read(*args)
        if func is torch.Tensor.__setitem__ and _has_scalar(args[1]) and _is_view(args[1]):
            return _write(*args)
        return func(*args, **kwargs)

    return Subscripts()


def _tensors(value: Any) -> list[Any]:
    import torch
    from torch.utils import _pytree as pytree

    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _is_scalar(subscript: Any) -> bool:
    import torch

    if not isinstance(subscript, torch.Tensor) or subscript.dim():
        return False
    return not (subscript.dtype.is_floating_point or subscript.dtype == torch.bool)


def _parts(subscript: Any) -> tuple[Any, ...]:
    return cast(tuple[Any, ...], subscript) if isinstance(subscript, tuple) else (subscript,)


def _has_scalar(subscript: Any) -> bool:
    return any(map(_is_scalar, _parts(subscript)))


def _is_view(subscript: Any) -> bool:
    """
    True if a subscript selects a view: it consists of integers, slices, None, `...` and tensors
    without dimensions.
    """
    cuts = (int, slice, type(None), type(Ellipsis))
    return all(_is_scalar(p) or isinstance(p, cuts) for p in _parts(subscript))


def _dims(parts: Sequence[Any], rank: int) -> list[int]:
    """
    Return, for each part of a subscript, the first dimension of the subscripted tensor that it
    applies to. `rank` is the tensor's number of dimensions.
    """
    widths = [_width(part) for part in parts]
    rest = rank - sum(widths)
    dims, dim = list[int](), 0
    for part, width in zip(parts, widths, strict=True):
        dims.append(dim)
        dim += rest if part is Ellipsis else width
    return dims


def _width(part: Any) -> int:
    """Return the number of dimensions that a part of a subscript uses up: 0 for None and `...`."""
    import torch

    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8):
        return part.dim()
    return 1


def _read(tensor: Any, subscript: Any) -> Any:
    import torch

    parts = [*_parts(subscript)]
    for position, dim in enumerate(_dims(parts, tensor.dim())):
        if _is_scalar(parts[position]):
            indices = [*[None] * dim, parts[position].reshape(1).long()]
            tensor, parts[position] = torch.ops.aten.index.Tensor(tensor, indices), 0
    return tensor[tuple(parts)]


def _write(tensor: Any, subscript: Any, value: Any) -> None:
    """
    Write `value` to the elements of `tensor` at `subscript`, with `index_put`. The dimensions
    subscripted by tensors are moved to the front, so that the others broadcast.
    """
    parts = [*_parts(subscript)]
    scalars = [n for n, part in enumerate(parts) if _is_scalar(part)]
    view = tensor[tuple(slice(None) if n in scalars else part for n, part in enumerate(parts))]
    axes = _axes(parts, view.dim())
    moved = view.movedim([axes[n] for n in scalars], [*range(len(scalars))])
    moved[tuple(parts[n].reshape(1).long() for n in scalars)] = value


def _axes(parts: Sequence[Any], rank: int) -> list[int]:
    """
    Return, for each part of a subscript, the dimension of the resulting view that it makes. Numbers
    make none, and get that of the next part.
    """
    widths = [int(part is None or isinstance(part, slice) or _is_scalar(part)) for part in parts]
    axes, axis = list[int](), 0
    for part, width in zip(parts, widths, strict=True):
        axes.append(axis)
        axis += rank - sum(widths) if part is Ellipsis else width
    return axes
