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
    Raise `UnsupportedError` where code of `file` calls `train()` on a module, until the exit.

    A new module is in training mode by default: only the call says that a user wants it. Code of
    other files is free to switch modes.
    """
    from torch import nn

    original = nn.Module.train

    def train(self: Any, mode: bool = True) -> Any:
        place = place_of_caller() if mode else None
        if place is not None and place.file == file:
            raise UnsupportedError(
                f"{type(self).__name__}.train(): training mode is not supported",
                where=str(place),
                remedy="leave it out: programs are compiled for inference, in eval mode",
            )
        return original(self, mode)

    nn.Module.train = train
    try:
        yield
    finally:
        nn.Module.train = original
