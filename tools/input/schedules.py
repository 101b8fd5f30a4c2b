# SPDX-License-Identifier: Apache-2.0
"""
Schedules of the user, by `--schedule [KERNEL=]PASSES` or as `planned` steps in a file of IR, with
warnings for steps that did nothing.
"""

import re
import sys
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop, tile
from tilewright.dialects.schedule import ScheduleAttr, parse_spec_list, spec_text
from tilewright.errors import UsageError, did_you_mean
from tilewright.passes.cuda.convert_kernel_to_cuda import cuda_names
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import to_tile
from tilewright.passes.reporting.trace import Listener, Rule, listening
from tilewright.passes.tile.idle_steps import planned_and_idle, planned_kernels
from tilewright.passes.tile.kernel_schedule import planned_passes
from tilewright.passes.tile.scheduling_pass import NOT_PLANNED
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_fusion import with_known_fusion

_NAMED = re.compile(r"\s*([\w.$-]+)\s*=(.*)", re.DOTALL)


def with_schedules(
    module: ModuleOp,
    given: Sequence[str],
    target: str,
    manager: PassManager | None = None,
    db: Db = False,
) -> ModuleOp:
    """
    Return `module` at Loop IR with the schedules in `given`, each `KERNEL=PASSES`, or `PASSES` if
    there is only one kernel. Its fusion is looked up in `db`; the planner schedules all other
    kernels. If `given` is empty, return `module` itself.
    """
    if not given:
        return module
    program = with_known_fusion(module, target, db, manager).module
    nests = lower(program, Level.LOOP, manager, target)
    kernels = {op.sym_name.data: op for op in nests.ops if isinstance(op, loop.KernelOp)}
    in_cuda = {cuda: name for name, cuda in cuda_names([*kernels]).items()}
    scheduled: set[str] = set()
    for text in given:
        name, passes = _read(text, [*kernels], in_cuda)
        if name in scheduled:
            raise UsageError(f"there are two schedules for @{name}")
        if not passes.strip():  # as a schedule an empty text would leave all work to one thread
            raise UsageError(f"the schedule of @{name} names no pass")
        _check_steps(name, passes)
        scheduled.add(name)
        kernels[name].planned = ScheduleAttr.parse(passes)
    return nests


def _read(text: str, kernels: Sequence[str], in_cuda: Mapping[str, str]) -> tuple[str, str]:
    """
    Return the kernel's name and its passes; names in CUDA, which `run` prints, are accepted, too.
    """
    if named := _NAMED.fullmatch(text):
        name = in_cuda.get(named[1], named[1])
        if name in kernels:
            return name, named[2]
        remedy = did_you_mean(named[1], kernels) or f"there are: {', '.join(kernels) or 'none'}"
        raise UsageError(f"no kernel is called '{named[1]}'", remedy=remedy)
    if len(kernels) == 1:
        return kernels[0], text
    raise UsageError(
        f"the schedule '{text}' is for one kernel, and there are {len(kernels)}",
        remedy=f"--schedule KERNEL=PASSES, where KERNEL is one of: {', '.join(kernels)}",
    )


def _check_steps(name: str, passes: str) -> None:
    """Raise `UsageError` if the text of a schedule has steps that no kernel can have."""
    try:
        planned_passes(ScheduleAttr.parse(passes))
    except UsageError as err:
        raise UsageError(f"the schedule of @{name}: {err}") from err


def warn_of_idle_steps(module: ModuleOp, lowered: ModuleOp, target: str) -> None:
    """
    Warn on stderr of scheduled steps of the kernels of `module` that did nothing while it was
    lowered to `lowered`, with the reason. A step without options is reported only if it was never
    run.
    """
    idle = planned_and_idle(module, lowered)
    reasons = _Reasons()
    if idle:
        # Reasons are collected by a second lowering, only if there is a step to explain.
        with listening(reasons):
            lower(module, Level.TILE, target=target)
    for op in planned_kernels(module):
        for step in idle.get(op.sym_name.data, ()):
            why = reasons.found.get((op.sym_name.data, step.name))
            if why in (None, NOT_PLANNED):
                why = _reason_against_step(step, op)
            elif not step.parameters:
                continue
            says = f"'{spec_text(step)}' planned for @{op.sym_name.data} did nothing"
            print(f"warning: {says}: {why}", file=sys.stderr)


def _reason_against_step(step: ArgSpec, kernel: loop.KernelOp) -> str:
    """Reason why no pass has run the step `step` that is planned for a kernel."""
    assert kernel.planned is not None
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "the kernel is a launch already (opt-tool -p to-tile continues it)"
    order = {spec.name: position for position, spec in enumerate(parse_spec_list(to_tile()))}
    if step.name not in order:
        return "to-tile does not have this pass (opt-tool -p apply-schedule runs any)"
    steps = [*kernel.planned.steps]
    for other in steps[steps.index(step) + 1 :]:
        if order.get(other.name, len(order)) < order[step.name]:
            return f"to-tile runs '{other.name}' first (opt-tool -p apply-schedule keeps the order)"
    return "to-tile runs each pass once (opt-tool -p apply-schedule runs it again)"


class _Reasons(Listener[None]):
    """Listener that records why passes skipped kernels."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], str] = {}

    def look(self, scope: Operation) -> None:
        """Take no snapshot."""

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Record the reason why the pass skipped the kernel."""
        self.found[site, rule.pass_name] = reason
