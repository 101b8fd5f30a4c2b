# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright run`: compile a program, run its kernels, and compare the results with a
reference.
"""

import argparse
import sys
from typing import Any

from rich.console import Console

from tilewright.codegen.execution import Backend, backend_for
from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.interpreters.program import Program
from tilewright.matrix_sums import MatrixSums
from tilewright.models.prompt import Prompt
from tilewright.tools.bench.gpu import MACHINE_CODE, gpu_contest, need_gpu
from tilewright.tools.bench.profile import print_profile
from tilewright.tools.bench.row import measured
from tilewright.tools.bench.table import print_outcome
from tilewright.tools.bench.workload import workload_of_expression
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.input.source import (
    ExpressionSource,
    IrSource,
    ModelSource,
    Source,
    TorchSource,
    source_of,
)
from tilewright.tools.judged_run import judged_run
from tilewright.tools.next_tokens import next_tokens, print_next_tokens, write_logits
from tilewright.tools.options.backends import BACKENDS
from tilewright.tools.options.database import database_of
from tilewright.tools.output.diagnostics import explain
from tilewright.tools.output.output_path import check_path
from tilewright.tools.output.progress import ReportStage, progress
from tilewright.tools.output.report import Report, print_report, write_json, write_json_error
from tilewright.tools.output.terminal import console
from tilewright.tools.program import captured_program, check_reference_memory, module_program
from tilewright.tools.prompted_program import check_prompt_options, prompted_program
from tilewright.tools.toolkit import use_cuda_home


def run(args: argparse.Namespace) -> int:
    """Run the program and print the report; return 0 if all results are right."""
    use_cuda_home()
    target_name = target_for(args.target)
    source = source_of(args)
    _check(source, args)
    prompt, report = _ran(source, args, target_name)
    tables = sys.stderr if args.json == "-" else sys.stdout
    out = console(args.color, tables)
    if prompt is None:
        print_report(report, out)
    else:
        print_next_tokens(prompt, report, out)
    tables.flush()
    for error in report.errors():
        print(error, file=sys.stderr)
    row = _timed(source, args, report, target_name, out)
    if args.logits is not None:
        write_logits(report.execution.results[0], args.logits)
    if args.json:
        write_json(report, args.json, _more(row, prompt, report))
    return 0 if report.ok and not (row and row["problem"]) else 1


def _check(source: Source, args: argparse.Namespace) -> None:
    """Raise `UsageError` if options conflict, or an output cannot be written."""
    if args.backends is not None and not args.bench:
        raise UsageError("--backends needs --bench")
    if isinstance(source, ModelSource):
        check_prompt_options(source, args)
    check_path(args.logits)
    check_path(args.json)
    if args.bench or args.profile:
        _check_timed(source, args)


def _ran(
    source: Source, args: argparse.Namespace, target_name: str
) -> tuple[Prompt | None, Report]:
    """
    Return the prompt, if the program is a language model, and the report. With `--json`, a failure
    is also written to the JSON.
    """
    try:
        sums = None if args.matrix_sums is None else MatrixSums(args.matrix_sums)
        backend = backend_for(args.device, target_name, args.blocks, sums)
        with progress() as report_stage:
            prompt, program = _program(source, args, backend, report_stage)
            report_stage("run kernels")
            return prompt, judged_run(source, program, backend, target_name, args)
    except Exception as err:
        if args.json:
            write_json_error(explain(err)[0], args.device, target_name, args.json)
        raise


def _more(row: dict[str, Any] | None, prompt: Prompt | None, report: Report) -> dict[str, Any]:
    """Return the additional entries of the JSON: the times, or the next tokens of a prompt."""
    if prompt is not None:
        return {"next_tokens": next_tokens(prompt, report.execution.results[0])}
    return {} if row is None else {"bench": row}


def _check_timed(source: Source, args: argparse.Namespace) -> None:
    """Raise `UsageError` unless the program can be timed."""
    option = "--bench" if args.bench else "--profile"
    if isinstance(source, IrSource):
        raise UsageError(f"{option} goes with -c or a model, not with a FILE of IR")
    if args.schedule:
        raise UsageError(f"{option} times the planner's schedules: it excludes --schedule")
    if args.device == "sim":
        raise UsageError(f"{option} needs a GPU: the simulator does not measure GPU times")
    need_gpu(f"compile --report {MACHINE_CODE}")


def _timed(
    source: Source, args: argparse.Namespace, report: Report, target_name: str, out: Console
) -> dict[str, Any] | None:
    """
    Time and profile the program, as requested, if its results are right; return the times or None.
    """
    if not report.ok:
        return None
    row = None
    if args.bench:
        assert isinstance(source, TorchSource)  # see `_check_timed`
        loaded = source.load(fake=False, seed=args.seed)
        workload = workload_of_expression(loaded, source.precision)
        peers = BACKENDS if args.backends is None else args.backends
        contest = gpu_contest(peers, target_name, database_of(args), source.precision)
        outcome = contest.run(workload, lambda phase: None)
        out.print()
        print_outcome(outcome, out)
        row = measured(outcome)
    if args.profile:
        out.print()
        print_profile(
            source, args, {launch.launch.kernel for launch in report.execution.kernels}, out
        )
    return row


def _program(
    source: Source, args: argparse.Namespace, backend: Backend, report_stage: ReportStage
) -> tuple[Prompt | None, Program]:
    """Return the program to run, and for a language model also the prompt."""
    if isinstance(source, ModelSource):
        return prompted_program(source, args, backend, report_stage)
    if not isinstance(source, TorchSource):
        against = None if args.against is None else read_module(args.against)
        return None, module_program(source.module(), against)
    is_expression = isinstance(source, ExpressionSource)
    for option in ("inputs", "against"):
        if getattr(args, option) is not None:
            kind = "-c" if is_expression else "a model"
            raise UsageError(
                f"--{option} goes with a FILE of IR, not with {kind}",
                remedy="tilewright compile --ir torch prints the program as IR",
            )
    if is_expression:
        check_reference_memory(source.text)
    return None, captured_program(source.captured(fake=False, seed=args.seed))
