# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright compile`: a program's IR at a level, its CUDA source, or a report on its
kernels. A language model is also compiled into a folder of kernels.
"""

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from tilewright.codegen.gpu import target_for
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.spill_feedback import lower_to_cuda, relieve_spills
from tilewright.codegen.target_limits import check_kernels
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import ModelSource, Source, source_of
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.plan_file import form_of, write_plan
from tilewright.tools.output.progress import lower_by_levels, progress
from tilewright.tools.output.terminal import colored_diff, is_colored
from tilewright.tools.output.trace_filter import listening_to
from tilewright.tools.output.trace_printer import RemarkPrinter, TracePrinter
from tilewright.tools.toolkit import use_cuda_home
from tilewright.tuning.known_schedules import with_known_schedules


def run(args: argparse.Namespace) -> int:
    """Print or write the outputs that the arguments request; return 0."""
    target, level = target_for(args.target), Level(args.ir)
    source = source_of(args)
    of_folder = _model_of_folder(source, args, level)
    _check(args, level, writes_folder=of_folder is not None)
    if _wants_report(args) or level is Level.CUDA:
        use_cuda_home()
    if args.host:
        _write_host(source, args, target)
    elif of_folder is not None:
        _write_model(of_folder, args, target)
    else:
        _write_level(source, args, target, level)
    return 0


def _check(args: argparse.Namespace, level: Level, *, writes_folder: bool) -> None:
    """Raise `UsageError` if options conflict, or an output cannot be written."""
    for option, path in (("-o", args.output), ("--plan", args.plan)):
        if args.json == path == "-":
            raise UsageError(f"--json - writes to stdout: {option} needs a file")
    check_path(args.json)
    check_path(args.plan)
    if not writes_folder:
        check_path(args.output)
    if args.plan is not None:
        form_of(args.plan)
    others = args.report or args.plan or args.json or args.verbosity
    if args.prove:
        _check_prove(args, writes_folder=writes_folder)
    if args.only and not args.verbosity:
        raise UsageError("--only filters -v and -vv", remedy="add -vv")
    if args.host and (level is not Level.CUDA or others):
        raise UsageError("--host cannot be combined with --ir, --report, --plan, --json or -v")
    if args.print_debuginfo and level is Level.CUDA:
        remedy = "use --ir kernel or a higher level"
        raise UsageError("--print-debuginfo is for IR: CUDA text has no locations", remedy=remedy)
    if args.schedule and not _has_kernels(level):
        message = f"--schedule is for kernels, and level {level} has none"
        raise UsageError(message, remedy="use --ir loop or a lower level")


def _check_prove(args: argparse.Namespace, *, writes_folder: bool) -> None:
    """Raise `UsageError` if there is no report to add proofs to, or no solver."""
    # z3 is needed for proofs only.
    from tilewright.proof.solver import load_z3

    if writes_folder:
        raise UsageError("--prove is for programs, and a folder of kernels has no proofs")
    if not _wants_report(args):
        remedy = "add --report or --json FILE"
        raise UsageError("--prove adds to the report, and there is none", remedy=remedy)
    load_z3()


def _wants_report(args: argparse.Namespace) -> bool:
    return args.report or args.json is not None


def _has_kernels(level: Level) -> bool:
    return level not in (Level.TORCH, Level.TENSOR)


def _write_level(source: Source, args: argparse.Namespace, target: str, level: Level) -> None:
    """Write the program at a level, its plan and its report to their outputs."""
    wants_report, has_kernels = _wants_report(args), _has_kernels(level)
    kernel_ir = None
    with _listening(args, target), progress() as report_stage:
        db = (has_kernels or wants_report) and database_of(args)
        module = with_schedules(source.module(report_stage), args.schedule, target, db=db)
        scheduled = with_known_schedules(module, target, db)
        if wants_report and level is Level.CUDA and level_of(scheduled) is not Level.CUDA:
            # The report also needs Kernel IR. `with_main` adds the launch to a lone kernel; the
            # text is the same.
            kernel_ir = lower_by_levels(with_main(scheduled), Level.KERNEL, target, report_stage)
        start = kernel_ir or (scheduled if has_kernels else module)
        lowered = lower_by_levels(start, level, target, report_stage)
        if level is Level.CUDA:
            report_stage("NVRTC")
            relieve_spills(lowered, target)
    warn_of_idle_steps(module, lowered, target)
    if level is Level.CUDA:
        check_kernels(kernels_of(lowered), target)
    if args.plan is not None:
        cuda_ir = lowered if level is Level.CUDA else lower_to_cuda(lowered, target)
        write_plan(plan_of(cuda_ir), args.plan)
    if wants_report:
        _report(scheduled if kernel_ir is None else lowered, kernel_ir, scheduled, target, args)
    if args.output is not None or not (args.report or "-" in (args.plan, args.json)):
        text = cuda_source(lowered) if level is Level.CUDA else _ir_text(lowered, args)
        write_text("-" if args.output is None else args.output, text)


def _ir_text(module: ModuleOp, args: argparse.Namespace) -> str:
    """Return the text of the IR, with locations if `--print-debuginfo` is given."""
    text = StringIO()
    Printer(text, print_debuginfo=args.print_debuginfo).print_op(module)
    return f"{text.getvalue()}\n"


def _model_of_folder(source: Source, args: argparse.Namespace, level: Level) -> ModelSource | None:
    """Return the language model to write to the folder `-o`, or None if `-o` is not a folder."""
    is_file = args.output is None or args.output == "-" or args.output.endswith(".cu")
    if level is not Level.CUDA or is_file or not isinstance(source, ModelSource):
        return None
    return source


def _write_model(source: ModelSource, args: argparse.Namespace, target: str) -> None:
    # The import loads PyTorch.
    from tilewright.tools.commands.folder import write_model

    with _listening(args, target), progress() as report_stage:
        write_model(source, args, target, report_stage)


def _write_host(source: Source, args: argparse.Namespace, target: str) -> None:
    # The import loads the interpreters and PyTorch.
    from tilewright.tools.commands.host import write_host

    write_host(source, args, target)


def _report(
    module: ModuleOp,
    kernel_ir: ModuleOp | None,
    scheduled: ModuleOp,
    target: str,
    args: argparse.Namespace,
) -> None:
    # The import loads the simulator and the interpreters, which takes longer than a compilation.
    from tilewright.tools.output.static_report import static_report_of, write_report

    report = static_report_of(module, target, kernel_ir)
    if args.prove:
        # The import loads the prover.
        from tilewright.tools.output.proofs import proofs_of, with_proofs

        with progress() as report_stage:
            cuda = None if kernel_ir is None else module
            report = with_proofs(report, proofs_of(scheduled, cuda, target, report_stage))
    write_report(report, args.json, args.color, args.report)


def _listening(args: argparse.Namespace, target: str) -> AbstractContextManager[None]:
    """
    Return a context that prints remarks on stderr, or with `-vv` rewrites on stdout if it is free.
    """
    if args.verbosity == 0:
        return nullcontext()
    is_trace = args.verbosity > 1
    stream = sys.stdout if is_trace and args.json != "-" else sys.stderr
    paint = colored_diff if is_colored(args.color, stream) else str
    printer = TracePrinter(stream, target, paint) if is_trace else RemarkPrinter(stream, paint)
    return listening_to(printer, args.only)
