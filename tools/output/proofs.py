# SPDX-License-Identifier: Apache-2.0
"""Certificates of a program's kernels, and their line in the report (`--prove`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.printer import kernels_of as cuda_kernels_of
from tilewright.codegen.report.evidence import Proofs
from tilewright.codegen.report.static_report import StaticReport
from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.kernel import FuncOp as FunctionOp
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import LEVELS, Level, level_of
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import (
    Certificate,
    functions_of,
    kernels_of,
    prove_function,
    prove_kernel,
)
from tilewright.tools.output.progress import ReportStage, lower_by_levels


def certificates(
    lowered: ModuleOp,
    nests: ModuleOp | None,
    cuda: ModuleOp | None,
    report_stage: ReportStage,
    threads: ModuleOp | None = None,
) -> Sequence[Certificate]:
    """
    Return the certificate of each kernel of a module of Tile IR. With the Loop IR that it was made
    of, kernels also have to store the values of their loop nests. The Kernel IR that was made of
    it, `threads`, adds its obligations; so does the index arithmetic of its CUDA IR.
    """
    found = list[Certificate]()
    by_name = {} if nests is None else {op.sym_name.data: op for op in kernels_of(nests)}
    kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(lowered)}
    funcs = {name: list[FuncOp]() for name in kernels}
    functions = {name: list[FunctionOp]() for name in kernels}
    for func in () if cuda is None else cuda_kernels_of(cuda):
        funcs[_origin(func.sym_name.data, kernels)].append(func)
    for function in () if threads is None else functions_of(threads):
        functions[_origin(function.sym_name.data, kernels)].append(function)
    for name, kernel in kernels.items():
        report_stage(f"prove {name}")
        nest, below = by_name.get(name), functions[name]
        found.append(prove_kernel(kernel, nest=nest, cuda=funcs[name], functions=below))
    return found


def certificates_of_threads(module: ModuleOp, report_stage: ReportStage) -> Sequence[Certificate]:
    """Return the certificate of each kernel of a module of Kernel IR."""
    found = list[Certificate]()
    for function in functions_of(module):
        report_stage(f"prove {function.sym_name.data}")
        found.append(prove_function(function))
    return found


def _origin(name: str, kernels: Iterable[str]) -> str:
    """
    Return the kernel of Tile IR that a kernel below was made of. A kernel whose blocks join their
    sums by a second one is made into `mm_partials` and `mm_join`.
    """
    return max((each for each in kernels if f"{name}_".startswith(f"{each}_")), key=len)


def proofs_of(
    module: ModuleOp, cuda: ModuleOp | None, target: str, report_stage: ReportStage
) -> Mapping[str, Proofs]:
    """
    Return the proofs of the kernels of a module at Tile IR or above, by their names; `cuda` is the
    CUDA IR that was made of it.
    """
    level = level_of(module) or Level.TILE
    if LEVELS.index(level) > LEVELS.index(Level.TILE):
        raise UsageError(f"--prove is about Tile IR, and the program is {level} IR")
    is_above = level is not Level.TILE
    nests = lower_by_levels(module, Level.LOOP, target, report_stage) if is_above else None
    lowered = lower_by_levels(nests or module, Level.TILE, target, report_stage)
    found = certificates(lowered, nests, cuda, report_stage)
    return {each.kernel: _counted(each) for each in found}


def _counted(found: Certificate) -> Proofs:
    counts = {str(outcome): found.count(outcome) for outcome in Outcome}
    return Proofs(len(found.answers), counts, dict(found.not_covered), found.as_json())


def with_proofs(report: StaticReport, proofs: Mapping[str, Proofs]) -> StaticReport:
    """Return the report with the proofs of its kernels."""
    kernels = [
        replace(kernel, proofs=proofs[_origin(kernel.name, proofs)]) for kernel in report.kernels
    ]
    return replace(report, kernels=tuple(kernels))
