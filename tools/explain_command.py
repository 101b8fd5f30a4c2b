# SPDX-License-Identifier: Apache-2.0
"""
`tilewright explain -c EXPR`: how each kernel is scheduled, what else was weighed, and what each of
the rewrites did or why it did nothing.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple

from rich.console import Console
from xdsl.ir import Operation

from tilewright.codegen.gpu import target_for
from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.passes.ledger import cost, ledger
from tilewright.passes.levels import Level
from tilewright.passes.lowering import lower
from tilewright.passes.pipeline_string import parse_spec_list, without_quotes
from tilewright.passes.tile.plan_schedules import RULE as PLANNING
from tilewright.passes.tile.planner import Choice, Weighed, launched, weighed
from tilewright.passes.trace import Rule, listening
from tilewright.tools.model_source import module_of
from tilewright.tools.terminal import console
from tilewright.tools.trace_printer import Snapshot

_OTHERS = 4
"""Alternatives that are shown."""


class Step(NamedTuple):
    """What a pass did to a kernel, or why it did nothing."""

    rule: Rule
    says: str
    acted: bool


@dataclass
class Steps:
    """Listens to the passes that schedule: what each did at each kernel."""

    target: Target
    by_kernel: defaultdict[str, list[Step]] = field(
        default_factory=lambda: defaultdict[str, list[Step]](list)
    )

    def look(self, scope: Operation) -> Snapshot:
        """Keep the text as well: what changes no cost is a step all the same."""
        return Snapshot(str(scope), cost(scope))

    def rewrote(self, rule: Rule, site: str, before: Snapshot, after: Snapshot) -> None:
        """Note what it cost and saved."""
        says = ledger(before.cost, after.cost, self.target).removeprefix("ledger: ")
        if rule != PLANNING:
            self.by_kernel[site].append(Step(rule, says, True))

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Note why not."""
        self.by_kernel[site].append(Step(rule, reason, False))

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Is part of the rewrite that follows."""


def run(args: argparse.Namespace) -> int:
    """Print a paragraph for each kernel."""
    target = target_for(args.target)
    nests = lower(module_of(args), Level.LOOP, target=target)
    steps = Steps(target_named(target))
    with listening(steps):
        scheduled = lower(nests, Level.TILE, target=target)
    out = console(args.color, sys.stdout)
    kernels = {op.sym_name.data: op for op in nests.ops if isinstance(op, loop.KernelOp)}
    if not kernels:
        out.print("no kernels: nothing is computed")
    for op in scheduled.ops:
        if isinstance(op, loop.KernelOp):
            name = op.sym_name.data
            choices = weighed(launched(kernels[name])[1], steps.target)
            _explain(out, op, choices, steps.by_kernel[name])
    return 0


def _telling(choices: Weighed) -> list[Choice[Any]]:
    """Of those within a tenth of each other only the first."""
    found: dict[int, Choice[Any]] = {}
    for choice in choices.choices:
        found.setdefault(round(10 * log(choices.seconds(choice))), choice)
    return [*found.values()]


def _explain(
    out: Console,
    kernel: loop.KernelOp,
    choices: Weighed | None,
    steps: Sequence[Step],
) -> None:
    schedule = "" if kernel.schedule is None else kernel.schedule.data
    options = {spec.name: without_quotes(str(spec)) for spec in parse_spec_list(schedule)}
    out.print(kernel.sym_name.data, style="bold", markup=False)
    out.print(f"  schedule  {schedule}", markup=False, soft_wrap=True)
    if choices is not None:
        headings = ["decided", "instead", *[""] * (_OTHERS - 1)]
        out.print(f"  problem   {choices.problem}", markup=False)
        for heading, choice in zip(headings, _telling(choices), strict=False):
            seconds = f"{1e6 * choices.seconds(choice):.1f} us by the planner's model"
            out.print(f"  {heading:<9} {choice}: {seconds}", markup=False)
    for step in steps:
        name = step.rule.name.replace("_", "-")
        done = options.get(name, name) if step.acted else f"{name}: no, {step.says}"
        out.print(f"  {step.rule.stage}:{step.rule.number:03d}     {done}", markup=False)
        if step.acted:
            out.print(f"{'':<12}{step.says}", markup=False)
    out.print()
