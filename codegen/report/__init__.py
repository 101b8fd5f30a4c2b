# SPDX-License-Identifier: Apache-2.0
"""
The static report: registers, occupancy, instructions, traffic and estimated time of each kernel.

It is read from the machine code, without a GPU.
"""

from tilewright.codegen.report.evidence import KernelEvidence, MainLoop
from tilewright.codegen.report.json_form import as_json
from tilewright.codegen.report.static_report import (
    StaticReport,
    kernel_costs,
    report_of,
    static_report,
)

__all__ = [
    "KernelEvidence",
    "MainLoop",
    "StaticReport",
    "as_json",
    "kernel_costs",
    "report_of",
    "static_report",
]
