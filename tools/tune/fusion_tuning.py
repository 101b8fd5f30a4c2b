# SPDX-License-Identifier: Apache-2.0
"""
Search for the best fusion of a program, around the search for the schedules of its kernels.

The time of a program is the sum of its launches, each with the best known schedule of its kernel.
To compare programs, each kernel first gets a short search, a tenth of its budget. Then the kernels
of the best program and of the default program are tuned fully, and the times of programs are
computed again.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.errors import one_line
from tilewright.passes.driver.lowering import REFUSED
from tilewright.passes.loop.fusion.fusion_cost import work_of
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.kernel_tuning import KernelTuning
from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tools.tune.progress import TuningProgress
from tilewright.tools.tune.searches import SEARCHES
from tilewright.tuning.database import Database
from tilewright.tuning.fusion_schedule import DEFAULT
from tilewright.tuning.fusions import Fusions
from tilewright.tuning.host_functions import launches
from tilewright.tuning.kernel_key import digest
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.program_key import note_of
from tilewright.tuning.search.distinct import Distinct
from tilewright.tuning.search.frame import Limits, at_once, trials
from tilewright.tuning.search.tree import Node

UNSCHEDULED = "for one of its kernels no schedule could be measured"


class FusionTuning:
    """Search state of one program: the fusions tried so far, and their times."""

    def __init__(self, program: Program, tuning: KernelTuning, args: argparse.Namespace):
        self.program = program
        self.findings = Findings(program)
        self._tuning, self._args = tuning, args
        self._space = Fusions(program.module, tuning.evaluation.target)
        self._leaves: dict[str, Node] = {}
        self._launched: dict[str, Counter[str]] = {}

    @property
    def has_choice(self) -> bool:
        """True if the program can be fused in more than one way."""
        return len(self._space.root.children) > 1

    def search(self, progress: TuningProgress) -> None:
        """Try the default fusion, and as many alternatives as `--programs` requests."""
        progress.begin(self.findings.title, self._args.programs + 1)
        machine = target_named(self._space.target)
        found = SEARCHES[self._args.search](
            self._space.root,
            lambda leaf: _guessed_seconds(self._space.nests(leaf), machine),
            self._args.seed,
        )
        search = Distinct(found, lambda leaf: frozenset(self._launches(leaf).items()))
        limits = Limits(budget=self._args.programs + 1)
        for trial in trials(search, at_once(self._glance), limits):
            self.findings.add(trial.measurement, is_new=True)
            progress.show(self.findings, trial.measurement)

    def kernels_of_best(self) -> Iterator[Kernel]:
        """Yield the kernels of the best program so far, unless the default program is the best."""
        best = self.findings.best
        if best is None or best is self.findings.default:
            return
        yield from self._kernels(self._leaves[best.schedule])

    def settle(self, database: Database | None) -> None:
        """
        Compute the times of the programs again, with the kernels' latest times, and store them.
        """
        self.findings.measurements = [
            self._measured(each.schedule) if each.us is not None else each
            for each in self.findings.measurements
        ]
        if database is None:
            return
        database.describe(note_of(self.program.module, self.program.origin))
        key = self._tuning.evaluation.key(self.program)
        for measurement in self.findings.measurements:
            database.add(key, measurement)

    def launches(self, measurement: Measurement) -> int:
        """Return the number of launches in a run of this fusion."""
        return self._launched[measurement.schedule].total()

    def _glance(self, leaf: Node) -> Measurement:
        schedule = leaf.schedule
        assert schedule is not None
        self._leaves[schedule], self._launched[schedule] = leaf, self._launches(leaf)
        try:
            for kernel in self._kernels(leaf):
                self._tuning.glance(kernel)
        except REFUSED as err:
            return Measurement(schedule, None, one_line(err))
        measured = self._measured(schedule)
        problem = self._complaint(leaf) if measured.us is not None else ""
        return Measurement(schedule, None, problem) if problem else measured

    def _complaint(self, leaf: Node) -> str:
        """Return how the results of the program differ from the default's; empty if they agree."""
        if leaf.schedule == DEFAULT:
            return ""
        fused = self._space.nests(leaf).clone()
        for kernel in self.program.kernels(fused, is_default=False):
            best = self._tuning.best_schedule(kernel)
            kernel.op.planned = None if best is None else ScheduleAttr.parse(best)
        default = self._space.fused(loop.FusionAttr.get())
        assert default is not None
        return self._tuning.evaluation.complaint(default.nests, fused)

    def _measured(self, schedule: str) -> Measurement:
        us = program_us(self._launched[schedule], self._tuning.best_us)
        return Measurement(schedule, us, UNSCHEDULED if us is None else "")

    def _kernels(self, leaf: Node) -> Iterator[Kernel]:
        nests = self._space.nests(leaf)
        yield from self.program.kernels(nests, is_default=leaf.schedule == DEFAULT)

    def _launches(self, leaf: Node) -> Counter[str]:
        return launches_by_digest(self._space.nests(leaf))


def _kernels_by_name(nests: ModuleOp) -> dict[str, loop.KernelOp]:
    """Return the kernels of a program at Loop IR, by name."""
    return {op.sym_name.data: op for op in nests.ops if isinstance(op, loop.KernelOp)}


def launches_by_digest(nests: ModuleOp) -> Counter[str]:
    """
    Return the number of launches of each kernel, by digest: equal for programs that do equal work.
    """
    digests = {name: digest(op) for name, op in _kernels_by_name(nests).items()}
    return Counter(digests[launch.kernel.string_value()] for launch in launches(nests))


def program_us(launched: Counter[str], best_us: Callable[[str], float | None]) -> float | None:
    """
    Return the time of a run in microseconds, the sum of its launches; None if a kernel has no time.

    The times of kernels include the launch overhead.
    """
    total = 0.0
    for kernel, times in launched.items():
        if (us := best_us(kernel)) is None:
            return None
        total += times * us
    return total


def _guessed_seconds(nests: ModuleOp, target: Target) -> float:
    """Return the time of a run in seconds by the cost model of fusion (`fusion_cost`)."""
    named = _kernels_by_name(nests)
    works = (work_of(named[launch.kernel.string_value()], launch) for launch in launches(nests))
    return sum(work.seconds(target) for work in works)
