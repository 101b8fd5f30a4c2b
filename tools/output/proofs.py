# SPDX-License-Identifier: Apache-2.0
"""Certificates of a program's kernels at Tile IR, and their line in the report (`--prove`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.report.evidence import Proofs
from tilewright.codegen.report.static_report import StaticReport
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import LEVELS, Level, level_of
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate, kernels_of, prove_kernel
from tilewright.tools.output.progress import ReportStage, lower_by_levels


def certificates(
    lowered: ModuleOp, nests: ModuleOp | None, report_stage: ReportStage
) -> Sequence[Certificate]:
    """
    Return the certificate of each kernel of a module of Tile IR. With the Loop IR that it was made
    of, kernels also have to store the values of their loop nests.
    """
    found = list[Certificate]()
    by_name = {} if nests is None else {op.sym_name.data: op for op in kernels_of(nests)}
    for kernel in kernels_of(lowered):
        name = kernel.sym_name.data
        report_stage(f"prove {name}")
        found.append(prove_kernel(kernel, nest=by_name.get(name)))
    return found


def proofs_of(module: ModuleOp, target: str, report_stage: ReportStage) -> Mapping[str, Proofs]:
    """Return the proofs of the kernels of a module at Tile IR or above, by their names."""
    level = level_of(module) or Level.TILE
    if LEVELS.index(level) > LEVELS.index(Level.TILE):
        raise UsageError(f"--prove is about Tile IR, and the program is {level} IR")
    is_above = level is not Level.TILE
    nests = lower_by_levels(module, Level.LOOP, target, report_stage) if is_above else None
    lowered = lower_by_levels(nests or module, Level.TILE, target, report_stage)
    return {each.kernel: _counted(each) for each in certificates(lowered, nests, report_stage)}


def _counted(found: Certificate) -> Proofs:
    counts = {str(outcome): found.count(outcome) for outcome in Outcome}
    return Proofs(len(found.answers), counts, dict(found.not_covered), found.as_json())


def with_proofs(report: StaticReport, proofs: Mapping[str, Proofs]) -> StaticReport:
    """Return the report with the proofs of its kernels."""
    kernels = [replace(kernel, proofs=proofs.get(kernel.name)) for kernel in report.kernels]
    return replace(report, kernels=tuple(kernels))
