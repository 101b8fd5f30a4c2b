# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright prove -c EXPR`: prove the obligations of each kernel at Tile IR and below, and
print those that are refuted or unknown.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.gpu import target_for
from tilewright.dialects.origin import place_of
from tilewright.errors import UsageError, counted
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.rewriting.launching import with_main
from tilewright.proof.answer import Answer, Obligation, Outcome
from tilewright.proof.kernels import Certificate, text_of
from tilewright.proof.solver import load_z3
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import source_of
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.progress import ReportStage, lower_by_levels, progress
from tilewright.tools.output.proofs import certificates, certificates_of_threads
from tilewright.tools.output.terminal import console, show, table
from tilewright.tuning.known_schedules import with_known_schedules

SCHEMA = 1
"""Version of the JSON's schema."""

_BELOW_LOOP: Mapping[Level | None, str] = {Level.TILE: "Tile IR", Level.KERNEL: "Kernel IR"}


def run(args: argparse.Namespace) -> int:
    """Print the answers, write the certificates, and return 0 if every kernel is proved, else 1."""
    check_path(args.json)
    load_z3()
    target = target_for(args.target)
    with progress() as report_stage:
        db = database_of(args)
        module = with_schedules(source_of(args).module(report_stage), args.schedule, target, db=db)
        scheduled = with_known_schedules(module, target, db)
        level = level_of(scheduled)
        if args.same and (name := _BELOW_LOOP.get(level)) is not None:
            raise UsageError(f"--same compares with Loop IR, and the file is {name}")
        if level is Level.KERNEL:
            lowered, found = scheduled, _proved_threads(scheduled, args, report_stage)
        else:
            lowered, found = _proved(scheduled, args, target, report_stage)
    warn_of_idle_steps(module, lowered, target)
    _print(console(args.color, sys.stderr if args.json == "-" else sys.stdout), found)
    is_proved = all(certificate.is_proved for certificate in found)
    if args.json is not None:
        kernels = [certificate.as_json() for certificate in found]
        content = {"schema": SCHEMA, "target": target, "proved": is_proved, "kernels": kernels}
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return 0 if is_proved else 1


def _proved(
    scheduled: ModuleOp, args: argparse.Namespace, target: str, report_stage: ReportStage
) -> tuple[ModuleOp, Sequence[Certificate]]:
    """Return the Tile IR of a module, and the certificates of its kernels."""
    nests = lower_by_levels(scheduled, Level.LOOP, target, report_stage) if args.same else None
    lowered = lower_by_levels(nests or scheduled, Level.TILE, target, report_stage)
    # A lone kernel needs a launch to be lowered.
    whole = with_main(lowered) if len([*lowered.ops]) == 1 else lowered
    threads = lower_by_levels(whole, Level.KERNEL, target, report_stage) if args.kernel else None
    is_cuda = args.indices
    cuda = lower_by_levels(threads or whole, Level.CUDA, target, report_stage) if is_cuda else None
    return lowered, certificates(lowered, nests, cuda, report_stage, threads)


def _proved_threads(
    module: ModuleOp, args: argparse.Namespace, report_stage: ReportStage
) -> Sequence[Certificate]:
    if args.indices:
        raise UsageError("--indices is about kernels made of Tile IR, and the file is Kernel IR")
    return certificates_of_threads(module, report_stage)


def _print(out: Console, found: Sequence[Certificate]) -> None:
    if not found:
        out.print("no kernels: nothing is computed")
        return
    columns = ("obligations", *Outcome)
    rows = table("kernel", *columns, "not covered", numbers=columns)
    for certificate in found:
        counts = [len(certificate.answers), *map(certificate.count, Outcome)]
        rows.add_row(certificate.kernel, *map(str, counts), _not_covered(certificate))
    show(out, rows)
    for certificate in found:
        for obligation, answer in certificate.answers:
            if answer.outcome is not Outcome.PROVED:
                print(_error(certificate.kernel, obligation, answer), file=sys.stderr)
    proved = sum(certificate.is_proved for certificate in found)
    style = "bold green" if proved == len(found) else "bold red"
    out.print(f"\n[{style}]{proved} of {counted(len(found), 'kernel')} proved[/]")


def _not_covered(certificate: Certificate) -> str:
    return ", ".join(f"{count} {op}" for op, count in certificate.not_covered.items())


def _error(kernel: str, obligation: Obligation, answer: Answer) -> str:
    """Return the message for an obligation that is not proved: its place, op and evidence."""
    place = place_of(obligation.op)
    where = f"{place}: " if place else ""
    head = f"{where}error: @{kernel}: {obligation.kind} of {obligation.subject} {answer.outcome}"
    hint = ["--json has the obligation as SMT-LIB text"] if answer.script else []
    lines = [text_of(obligation.op), answer.evidence, *hint]
    return "\n".join([head, *(f"  {line}" for line in lines)])
