# SPDX-License-Identifier: Apache-2.0
"""
Facts of an input tensor, beyond shape and dtype, that a program's Python code reads: `x.stride(0)`,
`x.requires_grad`.

The value of the fact at capture is baked in, as every Python value is. A call is refused if an
input has another value of it. Programs that read no facts take any input.
"""

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.source import is_foreign
from tilewright.frontend.wrapped_forward import forward_within

_KEY = "tilewright.baked_facts"
"""Key in the `meta` of an exported graph: the names of the facts that its program reads."""


def _strides(tensor: Any) -> list[int]:
    """
    Return a tensor's strides in elements, with 0 for axes of one element, whose strides have no
    effect.
    """
    axes = zip(tensor.shape, tensor.stride(), strict=True)
    return [stride if size > 1 else 0 for size, stride in axes]


_FACTS: dict[str, Callable[[Any], Any]] = {
    "strides": _strides,
    "storage offset": lambda tensor: tensor.storage_offset(),
    "device": lambda tensor: tensor.device,
    "requires_grad": lambda tensor: tensor.requires_grad,
    "is_leaf": lambda tensor: tensor.is_leaf,
}
"""Functions that compute each fact of a tensor, by the fact's name. Facts are compared by value."""


@contextmanager
def collect_facts(module: Any) -> Generator[set[str]]:
    """
    Yield a set that collects, until the end of the `with` block, the names of the facts that the
    Python code of `module` reads.
    """
    asked = set[str]()
    with forward_within(module, lambda: _mode(asked)), _noticing_device(asked):
        yield asked


def bake_facts(exported: Any, asked: Iterable[str]) -> None:
    """Record in an exported program the names `asked` of the facts that its Python code read."""
    if names := sorted(asked):
        exported.graph_module.meta[_KEY] = names


def baked_facts(exported: Any) -> Sequence[str]:
    """Return the names of the facts in which inputs must equal the example inputs; usually none."""
    return exported.graph_module.meta.get(_KEY, ())


def answer(fact: str, value: Any) -> Any:
    """Return the value of the fact called `fact` of a tensor or array."""
    return _FACTS[fact](tensor_of(value))


@contextmanager
def _noticing_device(asked: set[str]) -> Generator[None]:
    """
    Add "device" to `asked`, within the `with` block, when user code reads `device` of a fake
    tensor. The attribute is a Python property of `FakeTensor`, which function modes do not see.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    made: Any = FakeTensor
    original = made.device

    def device(tensor: Any) -> Any:
        if _is_read_by_user():
            asked.add("device")
        return original.fget(tensor)

    made.device = property(device)
    try:
        yield
    finally:
        made.device = original


def _mode(asked: set[str]) -> Any:
    from torch.overrides import TorchFunctionMode

    names = _names()

    class Facts(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if (name := names.get(func)) and _is_read_by_user():
                asked.add(name)
            return func(*args, **(kwargs or {}))

    return Facts()


@cache
def _names() -> dict[Any, str]:
    """
    Return a map from methods and attribute getters of a tensor to the name of the fact that each
    reads.
    """
    import torch

    asked_by = {
        "strides": (torch.Tensor.stride, torch.Tensor.is_contiguous, torch.Tensor.dim_order),
        "storage offset": (torch.Tensor.storage_offset,),
        "device": (torch.Tensor.get_device, *_getters("is_cuda", "is_cpu")),
        "requires_grad": _getters("requires_grad"),
        "is_leaf": _getters("is_leaf"),
    }
    return {method: name for name, methods in asked_by.items() for method in methods}


def _getters(*names: str) -> tuple[Any, ...]:
    """Return the getters of tensor attributes; function modes receive them as `func`."""
    import torch

    return tuple(getattr(torch.Tensor, name).__get__ for name in names)


@cache
def _forwarding_files() -> tuple[str, ...]:
    """
    Return path prefixes of the files that forward attribute reads and method calls: this package's
    folder, and two files of PyTorch.
    """
    from torch import overrides

    tensor = Path(overrides.__file__).with_name("_tensor.py")
    return str(Path(__file__).parent), overrides.__file__, str(tensor)


def _is_read_by_user() -> bool:
    """
    True if user code made the attribute read that is running: the innermost frame outside the
    forwarding files is not of PyTorch.
    """
    # `inspect.stack` reads source files, which is too slow for each attribute access.
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    forwarding = _forwarding_files()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(forwarding):
        frame = frame.f_back
    return not is_foreign(frame.f_code.co_filename)
