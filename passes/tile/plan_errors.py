# SPDX-License-Identifier: Apache-2.0
"""Errors in the plan of a kernel, at the kernel's place."""

from collections.abc import Generator
from contextlib import contextmanager

from tilewright.dialects.loop import KernelOp
from tilewright.dialects.origin import place_of
from tilewright.errors import UsageError


@contextmanager
def blamed_on_plan(kernel: KernelOp) -> Generator[None]:
    """Raise a `UsageError` of the block as one of the kernel's plan."""
    try:
        yield
    except UsageError as err:
        message = f"the plan of @{kernel.sym_name.data}: {err}"
        raise UsageError(message, where=place_of(kernel)) from err
