# SPDX-License-Identifier: Apache-2.0
"""
Programs whose Python asks how a tensor lies in memory: `x.is_contiguous()`, `x.stride(0)`.

The answer is baked in, as every Python value is, and a call with an input that lies otherwise is
refused. Programs that do not ask take any layout.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.source import is_foreign
from tilewright.frontend.wrapped_forward import forward_within

_KEY = "tilewright.asks_for_layout"
"""Entry of the `meta` of an exported graph whose program asks."""

_HERE = str(Path(__file__).parent)


@contextmanager
def noticing_layouts(module: Any) -> Generator[list[str]]:
    """Within, tracing `module` adds to a list the names of the methods that its Python asks by."""
    asked: list[str] = []
    with forward_within(module, lambda: _mode(asked)):
        yield asked


def bake_layout(exported: Any) -> None:
    """Note in an exported program that it asks how its inputs lie."""
    exported.graph_module.meta[_KEY] = True


def has_baked_layout(exported: Any) -> bool:
    """True if an exported program holds for the layout of its example inputs only."""
    return _KEY in exported.graph_module.meta


def strides_of(value: Any) -> list[int]:
    """The strides of a tensor or array in elements, 0 for axes of one element."""
    tensor = tensor_of(value)
    axes = zip(tensor.shape, tensor.stride(), strict=True)
    return [stride if size > 1 else 0 for size, stride in axes]


def _mode(asked: list[str]) -> Any:
    import torch
    from torch.overrides import TorchFunctionMode

    methods = (torch.Tensor.stride, torch.Tensor.is_contiguous)

    class Layouts(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func in methods and _is_asked_by_user():
                asked.append(func.__name__)
            return func(*args, **(kwargs or {}))

    return Layouts()


def _is_asked_by_user() -> bool:
    """True if the innermost frame outside of this package is the user's, and not PyTorch's."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]: inspect reads the source, too
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return not is_foreign(frame.f_code.co_filename)
