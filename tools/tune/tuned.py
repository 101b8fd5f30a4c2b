# SPDX-License-Identifier: Apache-2.0
"""
Whole tuning run: first the fusions of programs, with a short search of each kernel. Then the
kernels of all default programs are tuned, and those of faster fusions.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.tools.tune.evaluation import Evaluation
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.fusion_tuning import FusionTuning
from tilewright.tools.tune.kernel_tuning import KernelTuning
from tilewright.tools.tune.kernels import Found, Kernel
from tilewright.tools.tune.progress import TuningProgress
from tilewright.tools.tune.shortlist import Shortlist
from tilewright.tuning.database import Database
from tilewright.tuning.evaluators.evidence import evaluator


@dataclass
class Tuned:
    """Result of a tuning run: findings on fusions and on kernels."""

    fusions: list[FusionTuning]
    """Findings on each program that can be fused in more than one way."""
    kernels: list[Findings]
    is_whole: bool = True
    """True if the run was not interrupted."""


def tune(
    tunable: Found,
    evaluation: Evaluation,
    shortlist: Shortlist | None,
    database: Database | None,
    args: argparse.Namespace,
) -> Tuned:
    """Tune the programs and kernels, and return the findings."""
    tuning = KernelTuning(evaluation, database, args)
    fusions = [FusionTuning(each, tuning, args) for each in tunable.programs if args.programs]
    tuned = Tuned([each for each in fusions if each.has_choice], [])
    try:
        _search(tunable, tuning, tuned, shortlist, args)
    except KeyboardInterrupt:
        print("interrupted: these are the results so far", file=sys.stderr)
        _cut_short(tunable, tuning, tuned)
    for fusion in tuned.fusions:
        fusion.settle(database)
    return tuned


def _search(
    tunable: Found,
    tuning: KernelTuning,
    tuned: Tuned,
    shortlist: Shortlist | None,
    args: argparse.Namespace,
) -> None:
    """Run the searches, and add their findings to `tuned` as they are made."""
    of_kernel = 1 if shortlist is None else 2
    rounds = len(tunable.kernels) * of_kernel + len(tuned.fusions)
    with TuningProgress(args.color, args.verbose, rounds) as progress:
        for fusion in tuned.fusions:
            fusion.search(progress)
        others = _others(tuned.fusions, tunable.kernels)
        progress.extend(len(others) * of_kernel)
        for kernel in (*tunable.kernels, *others):
            found = tuning.findings(kernel)
            tuned.kernels.append(found)
            tuning.tune(kernel, progress)
            if shortlist is not None and found.default is not None:
                compiled = Findings(kernel, "by machine code", evaluator())
                tuned.kernels.append(compiled)
                _compile(kernel, found, compiled, shortlist, tuning, progress)


def _cut_short(tunable: Found, tuning: KernelTuning, tuned: Tuned) -> None:
    """
    Reduce `tuned` to what was measured before an interrupt, including short searches of kernels.
    """
    glanced = [tuning.findings(kernel) for kernel in tunable.kernels]
    known = [*tuned.kernels, *(each for each in glanced if each not in tuned.kernels)]
    tuned.kernels = [each for each in known if each.measurements]
    tuned.fusions = [each for each in tuned.fusions if each.findings.measurements]
    tuned.is_whole = False


def _others(fusions: Iterable[FusionTuning], kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return the kernels of the best programs that are not in `kernels`, each once."""
    known = {kernel.identity for kernel in kernels}
    best = (kernel for fusion in fusions for kernel in fusion.kernels_of_best())
    return [*{k.identity: k for k in best if k.identity not in known}.values()]


def _compile(
    kernel: Kernel,
    found: Findings,
    compiled: Findings,
    shortlist: Shortlist,
    tuning: KernelTuning,
    progress: TuningProgress,
) -> None:
    """
    Estimate the best schedules in `found` from their machine code, and add these measurements to
    `compiled`.
    """
    progress.begin(compiled.title, shortlist.count)
    records = tuning.records(kernel, shortlist.key(kernel))
    for measurement in shortlist.measurements(kernel, found):
        if records is not None:
            records.add(measurement)
        compiled.add(measurement, is_new=True)
        progress.show(compiled, measurement)
