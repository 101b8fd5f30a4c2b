# SPDX-License-Identifier: Apache-2.0
"""
Operators whose result is their input, or a view of it, although their schema does not say so:
dropout in eval mode, and an einsum that only permutes dimensions or takes diagonals.

Export takes such a result for a new tensor. What is written in place to it afterwards would not be
seen in the input, nor the other way around.
"""

from contextlib import AbstractContextManager
from typing import Any

from tilewright.frontend.wrapped_forward import forward_within


def views_kept(module: Any) -> AbstractContextManager[None]:
    """Within, those operators of `module` are traced as what they do: nothing, or views."""
    return forward_within(module, _mode)


def _mode() -> Any:
    import torch
    import torch.nn.functional as F
    from torch.overrides import TorchFunctionMode

    trains = {
        F.dropout: "training",
        F.dropout1d: "training",
        F.dropout2d: "training",
        F.dropout3d: "training",
        F.alpha_dropout: "training",
        F.feature_alpha_dropout: "training",
        torch.dropout: "train",
        torch.feature_dropout: "train",
        torch.alpha_dropout: "train",
        torch.feature_alpha_dropout: "train",
    }

    class Views(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if func in trains and _is_off(args, kwargs, trains[func]):
                return args[0] if args else kwargs["input"]
            if func is torch.einsum and not kwargs and (view := _view_of_one(args)) is not None:
                return view
            return func(*args, **kwargs)

    return Views()


def _is_off(args: Any, kwargs: Any, name: str) -> bool:
    """True if the arguments (input, p, training) of a dropout turn training off."""
    return (args[2] if len(args) > 2 else kwargs.get(name)) is False


def _view_of_one(args: Any) -> Any:
    """The view that an einsum of one tensor gives; None if it gives something new, or fails."""
    operands = [*args[1]] if isinstance(args[1], list | tuple) else [*args[1:]]
    if not isinstance(args[0], str) or len(operands) != 1:
        return None
    (tensor,) = operands
    left, arrow, right = args[0].replace(" ", "").partition("->")
    rest = range(tensor.dim() - len(left.replace("...", "")))
    if not arrow:
        right = "..." * ("..." in left) + "".join(sorted(c for c in {*left} if left.count(c) == 1))
    labels, wanted = _labels(left, rest), _labels(right, rest)
    if len(labels) != tensor.dim() or sorted({*map(str, labels)}) != sorted(map(str, wanted)):
        return None
    for label in wanted:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            tensor = tensor.diagonal(dim1=first, dim2=second)
            labels = [*labels[:first], *labels[first + 1 : second], *labels[second + 1 :], label]
    return tensor.permute([labels.index(label) for label in wanted])


def _labels(subscripts: str, rest: range) -> list[str | int]:
    """A label for each dimension: its letter, or a number for one that the dots stand for."""
    before, dots, after = subscripts.partition("...")
    return [*before, *(rest if dots else ()), *after]
