# SPDX-License-Identifier: Apache-2.0
"""Refusal of training mode: what is compiled is inference, and a text may not ask for more."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.source import place_of_caller


@contextmanager
def training_mode_refused(file: str) -> Generator[None]:
    """
    Raise `UnsupportedError` where code of `file` calls `train()` on a module or sets its
    `training`, until the exit.

    A new module is in training mode by default: only the call says that a user wants it. Code of
    other files is free to switch modes.
    """
    from torch import nn

    original, set_attribute = nn.Module.train, nn.Module.__setattr__

    def train(self: Any, mode: bool = True) -> Any:
        if mode:
            _refuse(file, f"{type(self).__name__}.train()")
        return original(self, mode)

    def setattr_(self: Any, name: str, value: Any) -> None:
        if name == "training" and value:
            _refuse(file, f"{type(self).__name__}.training = {value!r}")
        set_attribute(self, name, value)

    nn.Module.train, nn.Module.__setattr__ = train, setattr_
    try:
        yield
    finally:
        nn.Module.train, nn.Module.__setattr__ = original, set_attribute


def _refuse(file: str, what: str) -> None:
    """Raise `UnsupportedError` for `what` if code of `file` does it."""
    place = place_of_caller()
    if place is not None and place.file == file:
        raise UnsupportedError(
            f"{what}: training mode is not supported",
            where=str(place),
            remedy="leave it out: programs are compiled for inference, in eval mode",
        )
