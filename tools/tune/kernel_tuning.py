# SPDX-License-Identifier: Apache-2.0
"""Searching the schedules of kernels, of each kernel once, and going on where that was left."""

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
"""A glance at a kernel is so many times shorter than its tuning."""


class KernelTuning:
    """What is known of kernels; each measurement is kept before the next one begins."""

    def __init__(self, evaluation: Evaluation, database: Database | None, args: argparse.Namespace):
        self.evaluation = evaluation
        self._database = database
        self._args = args
        self._found: dict[str, Findings] = {}
        self._named: dict[str, Kernel] = {}
        """The first of kernels that are equal but for names, as schedules call its inputs."""

    def findings(self, kernel: Kernel) -> Findings:
        """What came of a kernel so far."""
        self._named.setdefault(kernel.digest, kernel)
        return self._found.setdefault(kernel.digest, Findings(kernel, kernel.how))

    def best_us(self, digest: str) -> float | None:
        """Return the best time of a kernel so far."""
        found = self._found.get(digest)
        return None if found is None or found.best is None else found.best.us

    def best_schedule(self, kernel: Kernel) -> str | None:
        """
        Return the best schedule so far, as a kernel names its inputs that is equal but for names.
        """
        best = self.findings(kernel).best
        if best is None:
            return None
        canonical = to_canonical(best.schedule, input_names(self._named[kernel.digest].op))
        return from_canonical(canonical, input_names(kernel.op))

    def records(self, kernel: Kernel, key: Key) -> KernelRecords | None:
        """Where measurements of a kernel are kept; None for nowhere."""
        if self._database is None:
            return None
        return KernelRecords(self._database, kernel.op, key, kernel.origin)

    def glance(self, kernel: Kernel) -> None:
        """Look at a few schedules, quietly, unless that was done."""
        if not self.findings(kernel).measurements:
            self._search(kernel, self._limits(_GLANCE), None)

    def tune(self, kernel: Kernel, progress: TuningProgress) -> Findings:
        """Search as long as the user wants."""
        found = self.findings(kernel)
        progress.begin(found.title, self._args.budget)
        self._search(kernel, self._limits(1), progress)
        return found

    def _search(self, kernel: Kernel, limits: Limits, progress: TuningProgress | None) -> None:
        """Measure what is not known yet, until there are as many as the limits say."""
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
        """What is not measured again."""
        kept = records.measurements() if records is not None and self._args.resume else []
        return {each.schedule: each for each in (*kept, *found.measurements)}

    def _limits(self, share: int) -> Limits:
        budget, patience = self._args.budget, self._args.patience
        if isinstance(budget, int):
            return Limits(budget=max(1, budget // share), patience=patience)
        return Limits(seconds=budget / share, patience=patience)
