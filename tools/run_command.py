# SPDX-License-Identifier: Apache-2.0
"""`tilewright run`: compile a program, run its kernels, and compare with what they should give."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.execution import Backend, backend_for
from tilewright.codegen.gpu import target_for
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.outcome import Execution
from tilewright.codegen.poison import Array
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.report import StaticReport, report_of
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects.target import target
from tilewright.errors import UsageError
from tilewright.interpreters.comparison import Comparison, compare, uncompared
from tilewright.interpreters.program import Program
from tilewright.passes.levels import Level, level_of
from tilewright.passes.lowering import context, lower
from tilewright.tools.bench.gpu import MACHINE_CODE, gpu_contest, need_gpu
from tilewright.tools.bench.profile import print_profile
from tilewright.tools.bench.row import measured
from tilewright.tools.bench.table import print_outcome
from tilewright.tools.bench.workload import workload_of_expression
from tilewright.tools.checks import checking_manager
from tilewright.tools.diagnostics import explain
from tilewright.tools.mlir_source import read_module
from tilewright.tools.model_source import captured, is_ir, model_of
from tilewright.tools.options.backends import BACKENDS
from tilewright.tools.options.database import database_of
from tilewright.tools.program import captured_program, module_program, stored_inputs
from tilewright.tools.report import Report, print_report, write_json, write_json_error
from tilewright.tools.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.terminal import console
from tilewright.tools.toolkit import use_cuda_home
from tilewright.tuning.known_schedules import with_known_schedules


def run(args: argparse.Namespace) -> int:
    """Run, and report; 0 if all results are right."""
    use_cuda_home()
    target_name = target_for(args.target)
    if args.backends is not None and not args.bench:
        raise UsageError("--backends is of --bench, which is not asked for")
    if args.bench or args.profile:
        _check_timed(args)
    try:
        backend = backend_for(args.device, target_name, args.blocks)
        report = _report(_program(args), backend, target_name, args)
    except Exception as err:
        if args.json:
            write_json_error(explain(err)[0], args.device, target_name, args.json)
        raise
    tables = sys.stderr if args.json == "-" else sys.stdout
    out = console(args.color, tables)
    print_report(report, out)
    tables.flush()
    for error in report.errors():
        print(error, file=sys.stderr)
    row = _timed(args, report, target_name, out)
    if args.json:
        write_json(report, args.json, row)
    return 0 if report.ok and not (row and row["problem"]) else 1


def _check_timed(args: argparse.Namespace) -> None:
    """Raise unless what runs can be timed."""
    option = "--bench" if args.bench else "--profile"
    if is_ir(args):
        raise UsageError(f"{option} goes with -c or a model, not with a FILE of IR")
    if args.schedule:
        raise UsageError(f"{option} is of the planner's schedules: it does not go with --schedule")
    if args.device == "sim":
        raise UsageError(f"{option} needs a GPU: the simulator's times say nothing of one")
    need_gpu(f"compile --report {MACHINE_CODE}")


def _timed(
    args: argparse.Namespace, report: Report, target_name: str, out: Console
) -> dict[str, Any] | None:
    """The times, and what the profiler says, of results that are right."""
    if not report.ok:
        return None
    row = None
    if args.bench:
        workload = workload_of_expression(model_of(args, fake=False, seed=args.seed))
        peers = BACKENDS if args.backends is None else args.backends
        contest = gpu_contest(peers, target_name, database_of(args))
        outcome = contest.run(workload, lambda phase: None)
        out.print()
        print_outcome(outcome, out)
        row = measured(outcome)
    if args.profile:
        out.print()
        print_profile(args, {launch.launch.kernel for launch in report.execution.kernels}, out)
    return row


def _program(args: argparse.Namespace) -> Program:
    if is_ir(args):
        against = None if args.against is None else read_module(args.against)
        return module_program(read_module(args.file), against)
    for option in ("inputs", "against"):
        if getattr(args, option) is not None:
            kind = "-c" if args.file is None else "a model"
            raise UsageError(f"--{option} goes with a FILE of IR, not with {kind}")
    return captured_program(captured(args, fake=False, seed=args.seed))


def _kernel_ir(module: ModuleOp, target_name: str, args: argparse.Namespace) -> ModuleOp | None:
    """`module` at Kernel IR, the last level with an interpreter; None if it is below."""
    manager = checking_manager(context(), args.check)
    planned = with_schedules(module, args.schedule, target_name, manager)
    if level_of(planned) is Level.CUDA:
        return None
    known = with_known_schedules(planned, target_name, database_of(args), manager)
    lowered = lower(known, Level.KERNEL, manager, target_name)
    warn_of_idle_steps(planned, lowered, target_name)
    return lowered


def _compared(
    program: Program, inputs: Sequence[Array], execution: Execution, kernel_ir: ModuleOp | None
) -> list[Comparison]:
    """Of samples, what was written is compared, unless it was made of what was not."""
    if execution.missing is None:
        return compare(program, inputs, execution.results, kernel_ir)
    if program.exact is None or execution.is_built_on_samples:
        return uncompared(execution.results)
    expected = program.rounded(inputs)
    rows = zip(execution.missing, expected, execution.results, strict=True)
    return compare(program, inputs, [np.where(*row) for row in rows])


def _report(
    program: Program, backend: Backend, target_name: str, args: argparse.Namespace
) -> Report:
    kernel_ir = _kernel_ir(program.module, target_name, args)
    plan = plan_of(lower_to_cuda(kernel_ir or program.module, target_name))
    inputs = program.inputs
    if inputs is None and args.inputs is not None:
        inputs = stored_inputs(args.inputs, plan.input_names)
    if inputs is None:
        inputs = random_inputs(plan.inputs, args.seed)
    execution = backend.run(plan, inputs)
    comparisons = _compared(program, inputs, execution, kernel_ir)
    return Report(
        backend.name,
        target_name,
        plan.source,
        execution,
        comparisons,
        program.rounded_by,
        plan.slab,
        _static(kernel_ir or program.module, execution, target_name) if args.report else None,
    )


def _static(module: ModuleOp, execution: Execution, target_name: str) -> StaticReport:
    """What the machine code tells, with what this run has counted."""
    counted = [run for run in execution.kernels if run.is_counted]
    counters = {run.launch.kernel: run.counters for run in reversed(counted)}
    return report_of(module, target(target_name), counters)
