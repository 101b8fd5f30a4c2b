# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright explain -c EXPR`: print each kernel's schedule, the alternatives that the
planner compared, and what each scheduling pass did or why it did nothing.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.gpu import target_for
from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.report.advice import Advice, advice
from tilewright.dialects import kernel, loop
from tilewright.dialects.schedule import parse_spec_list, spec_text
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.errors import UsageError
from tilewright.passes.cost.ledger import cost, figures, ledger
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Listener, Rule, listening
from tilewright.passes.tile.planner.considered import Choice
from tilewright.passes.tile.planner.plan_schedules import RULE as PLANNING
from tilewright.passes.tile.planner.plan_schedules import Weighed, launched, weighed
from tilewright.passes.tile.planner.plan_schedules import (
    reason_against as reason_against_planning,
)
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import source_of
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console
from tilewright.tools.output.trace_printer import NO_CHANGE, Snapshot
from tilewright.tuning.knowledge import Db, Known
from tilewright.tuning.known_fusion import with_known_fusion
from tilewright.tuning.known_schedules import scheduled_as_known

SCHEMA = 1
"""Version of the JSON's schema."""

_OTHERS = 4
"""Maximum number of alternatives in the output."""

_SCHEDULED = (Level.TILE, Level.KERNEL)

_NOTHING = "nothing: the kernel is already scheduled; explain its Loop IR or its program instead"

_HEADINGS = ("decided", "instead", *[""] * (_OTHERS - 1))


class Step(NamedTuple):
    """Effect of a pass on a kernel, or the reason why it did nothing."""

    rule: Rule
    says: str
    acted: bool

    @property
    def name(self) -> str:
        """Name of the pass that made this step."""
        return self.rule.pass_name


@dataclass
class Steps(Listener[Snapshot]):
    """Listener that records what each scheduling pass did to each kernel."""

    target: Target
    by_kernel: defaultdict[str, list[Step]] = field(
        default_factory=lambda: defaultdict[str, list[Step]](list)
    )

    def look(self, scope: Operation) -> Snapshot:
        """
        Return the text and cost of the scope. The text matters because a pass may change no cost.
        """
        return Snapshot.of(scope)

    def rewrote(self, rule: Rule, site: str, before: Snapshot, after: Snapshot) -> None:
        """Record the change of the kernel's cost."""
        says = ledger(before.cost, after.cost, self.target).removeprefix("ledger: ")
        if rule != PLANNING:
            self.by_kernel[site].append(Step(rule, says, True))

    def matched_without_change(self, rule: Rule, site: str) -> None:
        """Record a step of the schedule that found the kernel as it would make it."""
        if rule.schedules:
            self.by_kernel[site].append(Step(rule, NO_CHANGE, True))

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Record the reason why the pass did nothing."""
        self.by_kernel[site].append(Step(rule, reason, False))


class Weighing(NamedTuple):
    """One choice that the planner compared, as text, with its estimated time."""

    choice: str
    us: float
    """Time in microseconds by the planner's model."""


class Clocked(NamedTuple):
    """Time of a kernel by the clock, and what would have to change."""

    us: float
    """Time of a launch in microseconds."""
    advice: Sequence[Advice]

    def __str__(self) -> str:
        return f"{self.us:.1f} us by the clock"


class Explanation(NamedTuple):
    """Schedule of a kernel, with its origin and the alternatives."""

    kernel: str
    schedule: str
    known: Known | None = None
    """Measurement that the schedule comes from; None if the planner or the user chose it."""
    problem: str | None = None
    """
    Sizes of the problem that the planner solved; None if it had only one choice, or the user chose.
    """
    weighed: Sequence[Weighing] = ()
    """Choices that the planner compared: its own choice first, then alternatives."""
    steps: Sequence[Step] = ()
    figures: str | None = None
    """Costs of a kernel that was already scheduled in the input; None for all other kernels."""
    clock: Clocked | None = None
    """Time by the clock; None if it was not asked for."""


def run(args: argparse.Namespace) -> int:
    """
    Print the fusion of the program and a paragraph for each kernel, write the JSON, and return 0.
    """
    check_path(args.json)
    target = target_for(args.target)
    db = database_of(args)
    module, fusion = with_known_fusion(source_of(args).module(), target, db)
    found = explanations(module, args.schedule, target, db, by_clock=args.clock)
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    if fusion is not None:
        out.print("program", style="bold")
        out.print(f"  fused     {fusion.schedule}", markup=False, soft_wrap=True)
        out.print(f"  known     {fusion}\n", markup=False, soft_wrap=True)
    if not found:
        out.print("no kernels: nothing is computed")
    for explanation in found:
        _print(out, explanation)
    if args.json is not None:
        kernels = [_as_json(explanation) for explanation in found]
        program = None if fusion is None else fusion._asdict()
        content = {"schema": SCHEMA, "target": target, "program": program, "kernels": kernels}
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return 0


def explanations(
    module: ModuleOp, schedules: Sequence[str], target: str, db: Db, *, by_clock: bool = False
) -> list[Explanation]:
    """
    Return the explanation of each kernel of `module`, with the schedules of the user and of `db`.
    `by_clock` adds the time by the clock.
    """
    if level_of(module) in _SCHEDULED and not schedules:
        kernels = [op for op in module.ops if isinstance(op, loop.KernelOp | kernel.FuncOp)]
        found = [_already_scheduled(op, target_named(target)) for op in kernels]
        return _clocked(found, module, target) if by_clock else found
    given = with_schedules(lower(module, Level.LOOP, target=target), schedules, target)
    nests, known, _ = scheduled_as_known(given, target, db)
    steps = Steps(target_named(target))
    with listening(steps):
        scheduled = lower(nests, Level.TILE, target=target)
    warn_of_idle_steps(given, scheduled, target)
    kernels = {op.sym_name.data: op for op in nests.ops if isinstance(op, loop.KernelOp)}
    found = [
        _explanation(op, kernels[name], known.get(name), steps)
        for op in scheduled.ops
        if isinstance(op, loop.KernelOp)
        for name in [op.sym_name.data]
    ]
    return _clocked(found, scheduled, target) if by_clock else found


def _clocked(found: Sequence[Explanation], module: ModuleOp, target: str) -> list[Explanation]:
    """
    Return explanations with the times by the clock. Kernels that exist only in the CUDA text, such
    as those that join parts of sums, follow with explanations of their own.
    """
    report = report_of(module, target_named(target))
    times = {each.name: _time(each) for each in report.kernels}
    if None in times.values():
        raise UsageError(f"--clock: {'; '.join(report.notes) or 'no block fits on an SM'}")
    names = {explanation.kernel for explanation in found}
    others = (each.launch for each in report.kernels if each.name not in names)
    every = [*found, *(Explanation(launch.kernel, launch.schedule) for launch in others)]
    return [each._replace(clock=times.get(each.kernel)) for each in every]


def _time(evidence: KernelEvidence) -> Clocked | None:
    found = evidence.clock
    return None if found is None else Clocked(1e6 * found.seconds, advice(evidence))


def _already_scheduled(op: loop.KernelOp | kernel.FuncOp, target: Target) -> Explanation:
    schedule = "" if op.schedule is None else op.schedule.data
    return Explanation(op.sym_name.data, schedule, figures=figures(cost(op), target))


def _explanation(
    op: loop.KernelOp, nest: loop.KernelOp, known: Known | None, steps: Steps
) -> Explanation:
    name = op.sym_name.data
    schedule = "" if op.schedule is None else op.schedule.data
    choices = None
    if reason_against_planning(nest) is None:
        choices = weighed(launched(nest, nest.planned)[1], steps.target, nest.planned)
    if choices is None:
        return Explanation(name, schedule, known, steps=steps.by_kernel[name])
    considered = [] if choices.replaced else _best_choices(choices)
    weighings = [Weighing(str(each), 1e6 * choices.seconds(each)) for each in considered]
    return Explanation(name, schedule, None, str(choices.problem), weighings, steps.by_kernel[name])


def _best_choices(choices: Weighed) -> list[Choice[Any]]:
    """Return the best choices, at most one of those with nearly equal times (within about 10 %)."""
    found: dict[int, Choice[Any]] = {}
    for choice in choices.choices:
        found.setdefault(round(10 * log(choices.seconds(choice))), choice)
    return [*found.values()][: 1 + _OTHERS]


def _print(out: Console, explanation: Explanation) -> None:
    name, schedule, known, problem, weighings, steps, figures, clock = explanation
    options = {spec.name: spec_text(spec) for spec in parse_spec_list(schedule)}
    out.print(name, style="bold", markup=False)
    out.print(f"  schedule  {schedule or 'none'}", markup=False, soft_wrap=True)
    if known is not None:
        out.print(f"  known     {known}", markup=False, soft_wrap=True)
    if figures is not None:
        out.print(f"  figures   {figures}", markup=False)
        out.print(f"  weighed   {_NOTHING}", markup=False)
    if problem is not None:
        out.print(f"  problem   {problem}", markup=False)
    for heading, (choice, us) in zip(_HEADINGS, weighings, strict=False):
        out.print(f"  {heading:<9} {choice}: {us:.1f} us by the planner's model", markup=False)
    if clock is not None:
        out.print(f"  clock     {clock}", markup=False)
        for each in clock.advice:
            out.print(f"{'':<12}{each}", markup=False, soft_wrap=True)
    for step in steps:
        done = options.get(step.name, step.name) if step.acted else f"{step.name}: no, {step.says}"
        out.print(f"  {step.rule.stage}:{step.rule.number:03d}     {done}", markup=False)
        if step.acted:
            out.print(f"{'':<12}{step.says}", markup=False)
    out.print()


def _as_json(explanation: Explanation) -> dict[str, Any]:
    steps = [{"pass": s.name, "acted": s.acted, "says": s.says} for s in explanation.steps]
    weighings = [weighing._asdict() for weighing in explanation.weighed]
    known = explanation.known and explanation.known._asdict()
    if known is not None:
        del known["schedule"]  # its inputs have canonical names, not the program's
    clock = explanation.clock
    by_clock = clock and {"us": clock.us, "advice": [each._asdict() for each in clock.advice]}
    rest = {"known": known, "weighed": weighings, "steps": steps, "clock": by_clock}
    return {**explanation._asdict(), **rest}
