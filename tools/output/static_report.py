# SPDX-License-Identifier: Apache-2.0
"""Output of `--report`: a table of all kernels and a paragraph on each, or JSON."""

import json
import sys

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.report import KernelEvidence, StaticReport, as_json, report_of
from tilewright.codegen.report.instruction import Category
from tilewright.dialects.target import target
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.terminal import console, show, table

_COLUMNS = ("grid", "block", "registers", "spills", "shared", "warps", "FFMA", "bytes", "estimate")


def static_report_of(
    module: ModuleOp, target_name: str, kernel_ir: ModuleOp | None = None
) -> StaticReport:
    """
    Return the report on a module at any level. A single kernel without a host function gets one.

    `kernel_ir` is the Kernel IR that a module of CUDA IR was lowered from.
    """
    whole = module if level_of(module) in (None, Level.CUDA) else with_main(module)
    return report_of(whole, target(target_name), kernel_ir=kernel_ir)


def write_report(report: StaticReport, json_path: str | None, color: str, shown: bool) -> None:
    """
    Write the JSON, and print the report if it is `shown`: on stderr if the JSON goes to stdout.
    """
    if json_path is not None:
        write_text(json_path, json.dumps(as_json(report), indent=2, allow_nan=False) + "\n")
    if shown:
        stream = sys.stderr if json_path == "-" else sys.stdout
        print_static_report(report, console(color, stream))
        stream.flush()


def print_static_report(report: StaticReport, out: Console) -> None:
    """Print the table, if there are several kernels, and a paragraph for each kernel."""
    if len(report.kernels) > 1:
        rows = table("kernel", *_COLUMNS, "bound by", numbers=_COLUMNS)
        for kernel in report.kernels:
            rows.add_row(*_row(kernel))
        show(out, rows)
        out.print()
    out.print(str(report), end="", markup=False)


def _row(kernel: KernelEvidence) -> list[str]:
    resources, loop, estimate = kernel.resources, kernel.loop, kernel.estimate
    return [
        kernel.name,
        f"{kernel.launch.grid}",
        f"{kernel.launch.block}",
        f"{resources.registers}",
        f"{resources.spill_store_bytes + resources.spill_load_bytes} B",
        f"{kernel.shared_bytes} B",
        f"{kernel.occupancy.warps}/{kernel.occupancy.max_warps}",
        "-" if loop is None else f"{100 * loop.mix.share(Category.FFMA):.0f} %",
        f"{kernel.traffic.minimum_bytes}",
        "-" if estimate is None else f"{1e6 * estimate.seconds:.3g} us",
        "-" if estimate is None else estimate.bound,
    ]
