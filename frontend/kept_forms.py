# SPDX-License-Identifier: Apache-2.0
"""
Check that a program keeps the shape and layout of its inputs, parameters and buffers.

Refused are `x.resize_(...)`, `x.t_()`, an `out=x` that PyTorch resizes, and `x.data = y`. A
captured program writes new values into the tensors that it was called with, but cannot give them
another shape or layout. Export either fails on these programs or loses the change.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.source import place_of_caller
from tilewright.frontend.wrapped_forward import Forward, wrapped_forward


def check_forms_unchanged(module: Any) -> AbstractContextManager[None]:
    """
    Return a context in which a call of `module` raises `UnsupportedError` if it changes the shape
    or layout of an input, parameter or buffer.
    """

    def wrap(original: Forward) -> Forward:
        def forward(*args: Any, **kwargs: Any) -> Any:
            before = _forms(module, args, kwargs)
            with _mode():
                results = original(*args, **kwargs)
            for what, form in _forms(module, args, kwargs).items():
                if form != before.get(what, form):
                    raise form_error(what)
            return results

        return forward

    return wrapped_forward(module, wrap)


def form_error(what: str) -> UnsupportedError:
    """Return the error for a tensor whose shape or layout is changed."""
    return UnsupportedError(
        f"the shape or layout of {what} is changed in place",
        remedy="write x = x.t() for x.t_() and similar calls, and pass a tensor of the "
        "result's shape as out=",
    )


def _tensors(module: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    import torch
    from torch.utils import _pytree as pytree

    for path, leaf in pytree.tree_flatten_with_path((args, kwargs))[0]:
        if isinstance(leaf, torch.Tensor):
            yield f"argument {pytree.keystr(path[1:])}", leaf
    for name, parameter in module.named_parameters():
        yield f"parameter '{name}'", parameter
    for name, buffer in module.named_buffers():
        yield f"buffer '{name}'", buffer


def _forms(module: Any, args: Any, kwargs: Any) -> dict[str, tuple[Any, ...]]:
    """
    Return the sizes and strides of all inputs, parameters and buffers, by name. Function modes are
    off, because the program itself does not read them.
    """
    from torch._C import DisableTorchFunction

    with DisableTorchFunction():
        tensors = _tensors(module, args, kwargs)
        return {what: (*tensor.shape, *tensor.stride()) for what, tensor in tensors}


def _mode() -> Any:
    from inspect import getattr_static

    import torch
    from torch.overrides import TorchFunctionMode

    set_data = getattr_static(torch.Tensor, "data").__set__

    class NoNewData(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func == set_data:
                raise UnsupportedError(
                    "x.data = ... gives a tensor other memory, which is not supported",
                    where=str(place_of_caller() or ""),
                    remedy="write x.copy_(...), or use another variable",
                )
            return func(*args, **(kwargs or {}))

    return NoNewData()
