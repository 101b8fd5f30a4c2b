# SPDX-License-Identifier: Apache-2.0
"""
Search for the schedules of kernels. Equal kernels are searched once; a later search continues an
earlier one.
"""

import argparse
from collections.abc import Mapping

from tilewright.tools.tune.evaluation import Evaluation
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.kernels import Kernel
from tilewright.tools.tune.progress import TuningProgress
from tilewright.tools.tune.searches import SEARCHES
from tilewright.tuning.database import Database
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.kernel_key import input_names
from tilewright.tuning.kernel_records import KernelRecords
from tilewright.tuning.key import Key
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.operand_names import from_canonical, to_canonical
from tilewright.tuning.search.frame import Limits, microseconds, trials
from tilewright.tuning.space import Space

_GLANCE = 10
"""Factor by which the first, short search of a kernel is shorter than its tuning."""


class KernelTuning:
    """Search state of all kernels; each measurement is stored before the next one begins."""

    def __init__(self, evaluation: Evaluation, database: Database | None, args: argparse.Namespace):
        self.evaluation = evaluation
        self._database = database
        self._args = args
        self._found: dict[str, Findings] = {}
        self._named: dict[str, Kernel] = {}
        """First of all equal kernels, by identity; schedules use the names of its inputs."""

    def findings(self, kernel: Kernel) -> Findings:
        """Return the findings on a kernel so far."""
        self._named.setdefault(kernel.identity, kernel)
        found = Findings(kernel, kernel.how, self.evaluation.evaluator)
        return self._found.setdefault(kernel.identity, found)

    def best_us(self, digest: str) -> float | None:
        """Return the best time of a kernel without pins so far, in microseconds, or None."""
        found = self._found.get(digest)
        return None if found is None or found.best is None else found.best.us

    def best_schedule(self, kernel: Kernel) -> str | None:
        """
        Return the best schedule so far, with the input names of `kernel`, or None. Its measurement
        may be of an equal kernel with other names.
        """
        best = self.findings(kernel).best
        if best is None:
            return None
        canonical = to_canonical(best.schedule, input_names(self._named[kernel.identity].op))
        return from_canonical(canonical, input_names(kernel.op))

    def records(self, kernel: Kernel, key: Key) -> KernelRecords | None:
        """Return the database records of a kernel, or None if there is no database."""
        if self._database is None:
            return None
        return KernelRecords(self._database, kernel.op, key, kernel.origin)

    def glance(self, kernel: Kernel) -> None:
        """Search briefly and without progress output, unless the kernel has measurements."""
        if not self.findings(kernel).measurements:
            self._search(kernel, self._limits(_GLANCE), None)

    def tune(self, kernel: Kernel, progress: TuningProgress) -> Findings:
        """Search within the user's budget, and return the findings."""
        found = self.findings(kernel)
        progress.begin(found.title, self._args.budget)
        self._search(kernel, self._limits(1), progress)
        return found

    def _search(self, kernel: Kernel, limits: Limits, progress: TuningProgress | None) -> None:
        """Measure new schedules until the limits are reached; earlier measurements count."""
        found = self.findings(kernel)
        records = self.records(kernel, self.evaluation.key(kernel))
        known = self._known(found, records)
        if limits.budget is not None:
            limits = limits._replace(budget=limits.budget - found.measured)
        shown = {measurement.schedule for measurement in found.measurements}
        space = Space(kernel.op, self.evaluation.target)
        measure = model(space.target)
        search = SEARCHES[self._args.search](
            space.root, lambda leaf: microseconds(measure(space.kernel(leaf))), self._args.seed
        )
        submit = self.evaluation.submit(kernel, space)
        for trial in trials(search, submit, limits, slots=self.evaluation.slots, known=known):
            if trial.measurement.schedule in shown:
                continue
            if records is not None and trial.number:
                records.add(trial.measurement)
            found.add(trial.measurement, is_new=trial.number > 0)
            if progress is not None:
                progress.show(found, trial.measurement)

    def _known(self, found: Findings, records: KernelRecords | None) -> Mapping[str, Measurement]:
        """
        Return the measurements that are not repeated, by schedule: those in the database, and those
        of this run.
        """
        kept = records.measurements() if records is not None and self._args.resume else []
        return {each.schedule: each for each in (*kept, *found.measurements)}

    def _limits(self, share: int) -> Limits:
        budget, patience = self._args.budget, self._args.patience
        if isinstance(budget, int):
            return Limits(budget=max(1, budget // share), patience=patience)
        return Limits(seconds=budget / share, patience=patience)
