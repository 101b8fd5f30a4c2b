# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright compile MODEL -o DIR`: write a language model as a folder of kernels with a
runner.
"""

import argparse
from collections.abc import Mapping
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.codegen import nvrtc
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.printer import kernels_of
from tilewright.codegen.spill_feedback import relieve_spills
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects.target import target as target_named
from tilewright.errors import counted
from tilewright.models.folder import check_output_folder, folder_files, write_folder
from tilewright.passes.driver.levels import Level
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import LanguageModel, ModelSource
from tilewright.tools.options.database import database_of
from tilewright.tools.output.plan_file import write_plan
from tilewright.tools.output.progress import ReportStage, lower_by_levels
from tilewright.tools.output.written import note_written
from tilewright.tuning.known_schedules import with_known_schedules


def write_model(
    source: ModelSource, args: argparse.Namespace, target: str, report_stage: ReportStage
) -> None:
    """Write the folder, and the other outputs that the arguments request."""
    folder = Path(args.output)
    check_output_folder(folder)
    model = source.language_model(report_stage)
    program = model.program
    report_stage("capture")
    captured = source.capture(program)
    db = database_of(args)
    module = with_schedules(captured.module, args.schedule, target, db=db)
    scheduled = with_known_schedules(module, target, db)
    kernel_ir = lower_by_levels(scheduled, Level.KERNEL, target, report_stage)
    cuda_ir = lower_by_levels(kernel_ir, Level.CUDA, target, report_stage)
    check_kernels(kernels_of(cuda_ir), target)
    report_stage("NVRTC")
    relieve_spills(cuda_ir, target)
    warn_of_idle_steps(module, cuda_ir, target)
    plan = plan_of(cuda_ir)
    report = _report(plan, kernel_ir, cuda_ir, target, args)
    files = folder_files(cuda_ir, plan, captured, model.structure, _facts(model, target))
    write_folder(folder, {**files, "report.txt": report})
    kernels = counted(len({launch.kernel for launch in plan.launches}), "kernel")
    note_written(args.output, f"{kernels}, {counted(len(plan.launches), 'launch')}")
    if args.plan is not None:
        write_plan(plan, args.plan)


def _facts(model: LanguageModel, target: str) -> Mapping[str, Any]:
    """Return the manifest's entries on the model and on the versions it was compiled with."""
    config = model.structure.config
    return {
        "tilewright": tilewright.__version__,
        "torch": version("torch"),
        "transformers": version("transformers"),
        "nvrtc": ".".join(map(str, nvrtc.version())) if nvrtc.available() else None,
        "model": model.found.name,
        "family": config.model_type,
        "layers": config.num_hidden_layers,
        "dtype": str(config.dtype).removeprefix("torch."),
        "attention": model.attention,
        "seq_len": model.length,
        "target": target,
    }


def _report(
    plan: Plan, kernel_ir: ModuleOp, cuda_ir: ModuleOp, target: str, args: argparse.Namespace
) -> str:
    """Return the report on the machine code; also print or write it if the arguments request it."""
    # The import loads the interpreters and the disassembler.
    from tilewright.codegen.report.static_report import kernel_costs, static_report
    from tilewright.tools.output.static_report import print_static_report, write_report

    if not nvrtc.available() and not args.report and args.json is None:
        return "No report: NVRTC, which compiles kernels to machine code, is not installed.\n"
    report = static_report(plan, target_named(target), kernel_costs(kernel_ir, cuda_ir))
    write_report(report, args.json, args.color, args.report)
    text = StringIO()
    print_static_report(report, Console(file=text, no_color=True, width=10_000))
    return text.getvalue()
