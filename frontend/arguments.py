# SPDX-License-Identifier: Apache-2.0
"""
Checks of the tensors that a program is captured for and called with: dense, and of PyTorch's own
type.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from tilewright.errors import UsageError


def check_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """
    Raise `UsageError`, naming the argument, if it is a module or holds a tensor that `check_tensor`
    refuses.
    """
    import torch
    from torch.utils import _pytree as pytree

    leaves, _ = pytree.tree_flatten_with_path((args, kwargs))
    for path, value in leaves:
        place = f"argument {pytree.keystr(path[1:])}"
        if isinstance(value, torch.Tensor):
            check_tensor(place, value)
        if isinstance(value, torch.nn.Module):
            raise UsageError(
                f"{place} is a module, {type(value).__name__}",
                remedy="capture a module that holds it, or a function that uses it",
            )


def check_tensor(what: str, value: Any) -> None:
    """Raise `UsageError` unless a tensor, real or fake, is dense and of PyTorch's own type."""
    import torch
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    if is_transformed(value):
        words = "is traced by a transform of torch.func"
        remedy = "compile the function that the transform is applied to"
    elif value.is_nested:
        words, remedy = "is a nested tensor", "call to_padded_tensor()"
    elif value.layout is not torch.strided:
        layout = str(value.layout).removeprefix("torch.")
        words, remedy = f"has the layout {layout}", "call to_dense()"
    elif value.is_quantized:
        words, remedy = "is quantised", "call dequantize()"
    elif is_traceable_wrapper_subclass(value):
        words, remedy = f"is a {type(value).__name__}, which wraps other tensors", "pass these"
    else:
        return
    raise UsageError(f"{what} {words}", remedy=remedy)


def is_transformed(value: Any) -> bool:
    """True if a transform of `torch.func` traces the tensor."""
    return _is_wrapped()(value)


@cache
def _is_wrapped() -> Callable[[Any], bool]:
    from importlib import import_module

    return import_module("torch._C._functorch").is_functorch_wrapped_tensor


def is_plain(value: Any) -> bool:
    """
    True if a tensor is dense, of PyTorch's own type, and has values. This test is quick, and most
    tensors pass it.
    """
    import torch

    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and not value.is_meta
        and value.layout is torch.strided
        and not value.is_nested
        and not value.is_quantized
        and not is_transformed(value)
    )


def check_values(what: str, value: Any) -> None:
    """
    Raise `UsageError` if a tensor is fake or on the device meta, and therefore has no values to run
    with.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if isinstance(value, FakeTensor):
        raise UsageError(
            f"{what} is a fake tensor: it has no values to run with",
            remedy="in a function that PyTorch traces, call the original function",
        )
    if isinstance(value, torch.Tensor) and value.is_meta:
        raise UsageError(f"{what} is on the device meta: it has no values to run with")
