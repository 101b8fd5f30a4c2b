# SPDX-License-Identifier: Apache-2.0
"""Errors in the plan of a kernel, at the kernel's place."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.passes import ModulePass

from tilewright.dialects.loop import KernelOp
from tilewright.dialects.origin import place_of
from tilewright.dialects.pass_specs import parse_spec_list
from tilewright.errors import UsageError
from tilewright.passes.driver.pipelines import passes_of


def planned_passes(plan: str) -> tuple[ModulePass, ...]:
    """
    Return the passes of a kernel's plan.

    Raises `UsageError` for an unknown pass, and for a target: all kernels have that of the program.
    """
    for spec in parse_spec_list(plan):
        if "target" in spec.parameters:
            says = f"'{spec.name}' has a target of its own, and all kernels have the program's"
            raise UsageError(says, remedy="leave it out; --target sets it for the program")
    return passes_of(plan)


@contextmanager
def blamed_on_plan(kernel: KernelOp) -> Generator[None]:
    """Raise a `UsageError` of the block as one of the kernel's plan."""
    try:
        yield
    except UsageError as err:
        message = f"the plan of @{kernel.sym_name.data}: {err}"
        raise UsageError(message, where=place_of(kernel)) from err
