# SPDX-License-Identifier: Apache-2.0
"""Run of `tilewright run`: compile a program, run its kernels, and compare the results."""

import argparse
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.execution import Backend
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.outcome import Execution
from tilewright.codegen.poison import Array
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.report import StaticReport, report_of
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects.target import target
from tilewright.interpreters.comparison import Comparison, compare, uncompared
from tilewright.interpreters.program import Program
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import context, lower
from tilewright.tools.checks import EXACT, checking_manager
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import IrSource, Source
from tilewright.tools.options.database import database_of
from tilewright.tools.output.report import Report
from tilewright.tools.program import stored_inputs
from tilewright.tuning.known_schedules import with_known_schedules
from tilewright.tuning.plan_cache import compiled_plan


def judged_run(
    source: Source, program: Program, backend: Backend, target_name: str, args: argparse.Namespace
) -> Report:
    """
    Run the program of `source` on a device, with the options of `tilewright run`; return the
    report.
    """
    kernel_ir = cache(partial(_kernel_ir, program.module, target_name, args))
    if _is_plain(source, args):
        plan = compiled_plan(program.module, target_name, database_of(args))
    else:
        plan = plan_of(lower_to_cuda(kernel_ir() or program.module, target_name))
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
        _static(kernel_ir() or program.module, execution, target_name) if args.report else None,
    )


def _is_plain(source: Source, args: argparse.Namespace) -> bool:
    """
    True if the program can come from the cache: neither a check of passes nor a warning of idle
    steps needs its lowering.
    """
    is_checked = args.check in ("each", "end", EXACT)
    return not (isinstance(source, IrSource) or args.schedule or is_checked)


def _kernel_ir(module: ModuleOp, target_name: str, args: argparse.Namespace) -> ModuleOp | None:
    """
    Return `module` at Kernel IR, the last level with an interpreter; None if `module` is CUDA IR.
    """
    manager = checking_manager(context(), args.check)
    db = database_of(args)
    scheduled = with_schedules(module, args.schedule, target_name, manager, db)
    if level_of(scheduled) is Level.CUDA:
        return None
    known = with_known_schedules(scheduled, target_name, db, manager)
    lowered = lower(known, Level.KERNEL, manager, target_name)
    warn_of_idle_steps(scheduled, lowered, target_name)
    return lowered


def _compared(
    program: Program,
    inputs: Sequence[Array],
    execution: Execution,
    kernel_ir: Callable[[], ModuleOp | None],
) -> list[Comparison]:
    """
    Return the comparison of each result with the expected one.

    If only some blocks ran, elements that they did not write are skipped. If a kernel read such
    elements, no result is compared.
    """
    if execution.missing is None:
        return compare(program, inputs, execution.results, kernel_ir)
    if program.exact is None or execution.is_built_on_samples:
        return uncompared(execution.results)
    expected = program.rounded(inputs)
    rows = zip(execution.missing, expected, execution.results, strict=True)
    return compare(program, inputs, [np.where(*row) for row in rows])


def _static(module: ModuleOp, execution: Execution, target_name: str) -> StaticReport:
    """
    Return the report on the machine code of the kernels, with the simulator's counters of this run.
    """
    counted = [run for run in execution.kernels if run.is_counted]
    counters = {run.launch.kernel: run.counters for run in reversed(counted)}
    return report_of(module, target(target_name), counters)
