# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright compile --host`: a program's kernels with a `main`, and a file with its data.
"""

import argparse
from pathlib import Path

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.host_program import Expected, host_program, saved_data
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.poison import Array
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.codegen.target_limits import check_launches
from tilewright.errors import UsageError
from tilewright.interpreters.comparison import compare
from tilewright.interpreters.program import Program
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import Source, TorchSource
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import write_bytes, write_text
from tilewright.tools.program import captured_program, module_program
from tilewright.tuning.known_schedules import with_known_schedules


def write_host(source: Source, args: argparse.Namespace, target: str) -> None:
    """Write FILE.cu and FILE.bin; if the output is `-`, print only the CUDA text to stdout."""
    if args.output is None or (args.output != "-" and Path(args.output).suffix != ".cu"):
        raise UsageError("--host writes two files", remedy="name the first: -o FILE.cu")
    program = _program(source)
    if program.exact is None:
        raise UsageError(
            "the results of CUDA IR are unknown: it has no interpreter",
            remedy="start with IR of a higher level",
        )
    db = database_of(args)
    module = with_schedules(program.module, args.schedule, target, db=db)
    scheduled = with_known_schedules(module, target, db)
    lowered = lower_to_cuda(scheduled, target)
    warn_of_idle_steps(module, lowered, target)
    plan = plan_of(lowered)
    check_launches(plan.launches, target)
    inputs = random_inputs(plan.inputs, seed=0) if program.inputs is None else [*program.inputs]
    expected = _expected(program, plan, inputs)
    data = Path("FILE.cu" if args.output == "-" else args.output).with_suffix(".bin")
    write_text(args.output, host_program(plan, expected, data.name, target))
    if args.output != "-":
        write_bytes(str(data), saved_data(plan, inputs, expected))


def _program(source: Source) -> Program:
    if isinstance(source, TorchSource):
        return captured_program(source.captured(fake=False))
    return module_program(source.module(), None)


def _expected(program: Program, plan: Plan, inputs: list[Array]) -> list[Expected]:
    """Return the results of PyTorch or the interpreter, with the allowed error of each."""
    rounded = program.rounded(inputs)
    rows = zip(rounded, compare(program, inputs, rounded), strict=True)
    return [
        Expected(array, (found.limit or 0.0) + (found.rounded_error or 0.0))
        for array, found in rows
    ]
