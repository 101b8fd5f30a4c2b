# SPDX-License-Identifier: Apache-2.0
"""
Stores the best known schedule of each kernel as its `planned` steps.

    loop.kernel @mm(...) -> (...) { ... }

becomes, where a database or a golden has measured it,

    loop.kernel @mm(...) -> (...) { ... } planned "tileify,chunk-matmul-k{bk=16},..."

Before that, the program is fused in the best known way (`known_fusion`). A schedule that no longer
applies, because the passes have changed, is skipped with a remark. A kernel that has `planned`
steps keeps them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop, tile
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.reporting.trace import Rule, decided, listening, rewriting
from tilewright.tuning.applicability import first_that_applies, reason_against_schedule
from tilewright.tuning.kernel_key import digest, input_names
from tilewright.tuning.knowledge import Db, Knowledge, Known
from tilewright.tuning.known_fusion import with_known_fusion
from tilewright.tuning.operand_names import from_canonical, to_canonical

RULE = Rule("t", 20, "known_schedules")


def with_known_schedules(
    module: ModuleOp, target: str, db: Db = True, manager: PassManager | None = None
) -> ModuleOp:
    """
    Return `module` at Loop IR with its best known fusion and schedules. Returns it unchanged if
    there is no source, or if it is below Loop IR already. Raises `DatabaseError` as `Knowledge`
    does.
    """
    return scheduled_as_known(module, target, db, manager).module


class Scheduled(NamedTuple):
    """A program, and the sources of its schedules and fusion."""

    module: ModuleOp
    kernels: Mapping[str, Known]
    """Source of the schedule of each kernel, by name."""
    fusion: Known | None = None
    """Source of the fusion; None if the passes decide."""


def scheduled_as_known(
    module: ModuleOp, target: str, db: Db = True, manager: PassManager | None = None
) -> Scheduled:
    """Return the module that `with_known_schedules` returns, with the sources of its schedules."""
    if level_of(module) not in (Level.TORCH, Level.TENSOR, Level.LOOP):
        return Scheduled(module, {})
    if (knowledge := Knowledge(target, db)).is_empty:
        return Scheduled(module, {})
    program, fusion = with_known_fusion(module, target, db, manager)
    nests = lower(program, Level.LOOP, manager, target)
    kernels = [op for op in nests.ops if isinstance(op, loop.KernelOp) and _is_open(op)]
    digests = [digest(kernel) for kernel in kernels]
    best = knowledge.best(digests)
    used = {
        kernel.sym_name.data: known
        for kernel, found in zip(kernels, digests, strict=True)
        if (known := _give_schedule(kernel, best[found], target)) is not None
    }
    return Scheduled(nests, used, fusion)


def _is_open(kernel: loop.KernelOp) -> bool:
    """True if the kernel has neither planned steps nor a schedule."""
    return kernel.planned is None and not isinstance(kernel.body.block.last_op, tile.LaunchOp)


def _give_schedule(kernel: loop.KernelOp, candidates: Iterable[Known], target: str) -> Known | None:
    """
    Set the first candidate that applies to the kernel as its planned steps. Return this candidate,
    or None if none applies.
    """
    named = _named(kernel, candidates, target)
    reason_against = partial(reason_against_schedule, kernel, target=target)
    found = first_that_applies(RULE, kernel, named, reason_against)
    if found is None:
        return None
    schedule, known = found
    decided(RULE, kernel, str(known))
    with rewriting(RULE, kernel):
        kernel.planned = ScheduleAttr.parse(schedule)
    return known


def _named(
    kernel: loop.KernelOp, candidates: Iterable[Known], target: str
) -> Iterator[tuple[str, Known]]:
    """
    Yield each candidate's schedule, with the kernel's own names of inputs, and the candidate. If
    the planner's schedule is as fast as a candidate, it replaces the candidate.
    """
    names = input_names(kernel)
    for fastest in candidates:
        known = fastest.or_default(lambda: to_canonical(_default(kernel, target), names))
        yield from_canonical(known.schedule, names), known


def _default(kernel: loop.KernelOp, target: str) -> str:
    """Return the schedule that the planner makes, with all options."""
    with listening(None):
        lowered = lower(ModuleOp([kernel.clone()]), Level.TILE, target=target)
    (made,) = (op for op in lowered.ops if isinstance(op, loop.KernelOp))
    return "" if made.schedule is None else made.schedule.data
