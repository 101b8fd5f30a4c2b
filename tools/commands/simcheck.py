# SPDX-License-Identifier: Apache-2.0
"""
`tilewright simcheck`: plant bugs in right kernels, and see that they are found.

A folder has kernels of CUDA with the bugs to plant (`NAME.cu` and `NAME.toml`), and kernels of Tile
IR (`NAME.mlir`), in which bugs are planted by rule. The kernels that the planner makes of a suite's
cases and of models get bugs by rule, too, at smaller sizes.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from time import monotonic, process_time
from typing import Any, NamedTuple

from rich.markup import escape

import tilewright
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.errors import UsageError, counted
from tilewright.tools.bench.environment import sources
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console
from tilewright.tools.planted_bugs.equivalent import unmatched
from tilewright.tools.planted_bugs.finders import WITHOUT_EFFECT, Finders, Outcome
from tilewright.tools.planted_bugs.hand_written_case import Case, load_case, run_case
from tilewright.tools.planted_bugs.input_sets import TURNS
from tilewright.tools.planted_bugs.planted import Kernel, Mutant, load_kernel, mutants, planted
from tilewright.tools.planted_bugs.results import Result, ResultFile, print_results
from tilewright.tools.planted_bugs.scheduled_kernels import (
    ScheduledKernel,
    load_scheduled,
    scheduled_kernels,
)
from tilewright.tools.toolkit import use_cuda_home
from tilewright.tuning.kernel_key import nvrtc_version

FOLDERS = ("test/codegen/simulator/kernels", "test/codegen/simulator/tile")
"""The kernels of a checkout."""

QUICK = 20
"""The quick part of what is planted by rule is one bug of so many."""

FEW = 8
"""Bugs that are planted in a kernel of the planner, unless more or fewer are asked for."""


class _Job(NamedTuple):
    """A kernel to check: its name, its facts, and what checks it."""

    name: str
    facts: Mapping[str, Any]
    check: Callable[[], Result]


def run(args: argparse.Namespace) -> int:
    """Check what is asked for, and report; 0 if bugs are found where they are, and only there."""
    use_cuda_home()
    check_path(args.json)
    target = args.target or DEFAULT_TARGET
    target_named(target)
    begin = monotonic()
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    with out.status("planning") as status:  # nothing is shown where there is no terminal
        jobs, refused = _jobs(args, target)
        file = ResultFile(args.json, _environment(args, target))
        results = list[Result]()
        for number, job in enumerate(jobs, 1):
            status.update(f"{escape(job.name)}, kernel {number} of {len(jobs)}")
            result = file.known(job.name, job.facts)
            if result is None and args.stop_after and monotonic() - begin > args.stop_after:
                continue
            results.append(result or _timed(job))
            file.write(results, refused)
    print_results(results, out)
    for reason in refused:
        print(f"note: {reason}", file=sys.stderr)
    if left := len(jobs) - len(results):
        out.print(f"{counted(left, 'kernel')} left: the same command goes on, with --json FILE")
    if args.json == "-":
        write_text("-", file.text(results, refused))
    return 1 if any(result.problems for result in results) else 0


def _environment(args: argparse.Namespace, target: str) -> dict[str, Any]:
    """Return what results depend on."""
    return {
        "seed": args.seed,
        "mutants": args.mutants,
        "quick": args.quick,
        "target": target,
        "tilewright": tilewright.__version__,
        "nvrtc": nvrtc_version(),
        "sources": sources(),
    }


def _jobs(args: argparse.Namespace, target: str) -> tuple[list[_Job], Sequence[str]]:
    """Return the kernels to check, and the reasons for which others cannot be."""
    suites = [source for source in args.sources if source.endswith(".json")]
    folders = [source for source in args.sources if source not in suites]
    if not args.sources and not args.model:
        folders = FOLDERS
    paths = [path for folder in folders for path in kernels(Path(folder))]
    jobs = [_file_job(path, args) for path in paths if args.only in path.stem]
    found = scheduled_kernels(args.model, suites, args.only, target)
    jobs += [_scheduled_job(kernel, args, target) for kernel in found.kernels]
    if not jobs and not found.refused:
        raise UsageError(f"no kernel has '{args.only}' in its name")
    return jobs, found.refused


def kernels(folder: Path) -> list[Path]:
    """Return the kernels in a folder; raises `UsageError` where there are none."""
    found = sorted([*folder.glob("*.cu"), *folder.glob("*.mlir")])
    if not found:
        raise UsageError(
            f"there are no kernels to check in {folder}",
            remedy="run it in a checkout, or name a folder of NAME.cu and NAME.toml, or NAME.mlir",
        )
    return found


def _file_job(path: Path, args: argparse.Namespace) -> _Job:
    def run() -> Result:
        if path.suffix == ".cu":
            return check(load_case(path.with_suffix(".toml")), quick=args.quick)
        kernel = load_kernel(path, turns=1 if args.quick else TURNS)
        part = QUICK if args.quick and args.mutants is None else 1
        return check_by_rule(kernel, drawn(mutants(kernel)[::part], args.mutants, args.seed))

    return _Job(path.stem, {"file": str(path)}, run)


def _scheduled_job(scheduled: ScheduledKernel, args: argparse.Namespace, target: str) -> _Job:
    facts = {
        "schedule": scheduled.schedule,
        "shapes": scheduled.shapes,
        "digest": scheduled.digest,
        "also": scheduled.others,
    }

    def run() -> Result:
        kernel = load_scheduled(scheduled, target)
        return check_by_rule(kernel, drawn(mutants(kernel), args.mutants or FEW, args.seed))

    return _Job(scheduled.name, facts, run)


def drawn(mutants: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """Return `count` mutants drawn at random, in their order; all if there are no more."""
    if count is None or count >= len(mutants):
        return [*mutants]
    chosen = Random(seed).sample(range(len(mutants)), count)
    return [mutants[number] for number in sorted(chosen)]


def _timed(job: _Job) -> Result:
    """Check a kernel, and count the seconds of the CPU that it takes."""
    start = process_time()
    result = job.check()
    result.facts = job.facts
    result.seconds = round(process_time() - start, 2)
    return result


def check(case: Case, *, quick: bool) -> Result:
    """Run a case and its mutants, or those that are marked as quick."""
    result = Result(case.name, problems=[*_false_alarms(case.name, run_case(case).found)])
    for mutant in case.mutants:
        if quick and not mutant.quick:
            continue
        result.planted += 1
        found = run_case(case, mutant).found
        if mutant.finds in found:
            result.found[mutant.finds] += 1
        else:
            result.problems.append(
                f"{case.name}: '{mutant.what}' should be found as {mutant.finds}, not as "
                f"{_words(found)}"
            )
    return result


def check_by_rule(kernel: Kernel, mutants: Sequence[Mutant]) -> Result:
    """Run a kernel, and mutants of it."""
    finders = Finders(kernel)
    stale = unmatched(kernel.equivalent, (mutant.place for mutant in planted(kernel)))
    result = Result(kernel.name, problems=[f"{kernel.name}: {entry}" for entry in stale])
    if not finders.sets:
        result.problems.append(f"{kernel.name}: there are no inputs that it could be judged with")
        return result
    for mutant in mutants:
        if (outcome := finders.run(mutant)) is None:
            result.refused += 1
        elif outcome.kind == WITHOUT_EFFECT:
            result.without_effect.append(str(mutant.place))
        else:
            result.planted += 1
            _count(result, mutant, outcome)
    result.problems += _false_alarms(kernel.name, finders.false_alarms)
    return result


def _count(result: Result, mutant: Mutant, outcome: Outcome) -> None:
    if outcome.is_found:
        result.found[outcome.kind] += 1
    else:
        result.problems.append(f"{result.name}: {mutant.place} {outcome.missed}")


def _false_alarms(name: str, found: frozenset[str]) -> Iterator[str]:
    return (f"{name} is right, and yet: {kind}" for kind in sorted(found))


def _words(found: frozenset[str]) -> str:
    return ", ".join(sorted(found)) or "nothing"
