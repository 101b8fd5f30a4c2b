# SPDX-License-Identifier: Apache-2.0
"""
The two pipelines that a kernel carries while it is scheduled: the steps that are `planned`, and its
`schedule`, of those that were done.

    loop.kernel @mm(...) -> (...) { ... } planned "mark-unroll" schedule "tileify,async-copy"
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache

from xdsl.dialects.builtin import StringAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.origin import place_of
from tilewright.dialects.pass_specs import parse_spec_list
from tilewright.errors import UsageError
from tilewright.passes.driver.pipelines import passes_of


def take_planned(kernel: loop.KernelOp, name: str) -> ArgSpec | None:
    """Remove the steps up to the first of that name from the planned ones, and return it."""
    if kernel.planned is None:
        return None
    step, rest = _taken(kernel.planned.data, name)
    if step is not None:
        kernel.planned = StringAttr(rest) if rest else None
    return step


@lru_cache(maxsize=1 << 12)  # many kernels are scheduled alike
def _taken(planned: str, name: str) -> tuple[ArgSpec | None, str]:
    """The step of that name of `planned`, and the steps that come after it."""
    specs = parse_spec_list(planned)
    position = next((i for i, spec in enumerate(specs) if spec.name == name), None)
    if position is None:
        return None, planned
    return specs[position], ",".join(map(str, specs[position + 1 :]))


def record(kernel: loop.KernelOp, step: str, rewriter: PatternRewriter) -> None:
    """Add what was done to the kernel's schedule."""
    before = "" if kernel.schedule is None else f"{kernel.schedule.data},"
    kernel.schedule = StringAttr(before + step)
    rewriter.notify_op_modified(kernel)


def is_scheduled(kernel: loop.KernelOp, name: str) -> bool:
    """Whether the pass of that name is a step of the kernel's schedule."""
    if kernel.schedule is None or name not in kernel.schedule.data:
        return False
    return any(spec.name == name for spec in parse_spec_list(kernel.schedule.data))


def planned_passes(planned: str) -> tuple[ModulePass, ...]:
    """
    Return the passes of a kernel's planned steps.

    Raises `UsageError` for an unknown pass, and for a target: all kernels have that of the program.
    """
    for spec in parse_spec_list(planned):
        if "target" in spec.parameters:
            says = f"'{spec.name}' has a target of its own, and all kernels have the program's"
            raise UsageError(says, remedy="leave it out; --target sets it for the program")
    return passes_of(planned)


@contextmanager
def blamed_on_planned_steps(kernel: KernelOp) -> Generator[None]:
    """Raise a `UsageError` of the block as one of the kernel's planned steps."""
    try:
        yield
    except UsageError as err:
        message = f"the planned steps of @{kernel.sym_name.data}: {err}"
        raise UsageError(message, where=place_of(kernel)) from err
