# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels of `test/codegen/report/kernels/`, compiled and parsed."""

from functools import cache
from pathlib import Path

from tilewright.codegen import nvrtc
from tilewright.codegen.report.disassemble import disassemble
from tilewright.codegen.report.instruction import Code
from tilewright.codegen.report.ptx import parse_ptx
from tilewright.codegen.report.resources import Resources, parse_resources
from tilewright.codegen.report.sass import parse_sass

KERNELS = Path(__file__).parents[1] / "codegen" / "report" / "kernels"
TARGET = "sm_90a"
GENERATIONS = ("sm_80", "sm_90a", "sm_120")
"""One target for each instruction set."""


@cache
def _compiled(file: str, target: str) -> nvrtc.CompiledCubin:
    return nvrtc.compile_cubin((KERNELS / file).read_text(), target, name=file)


@cache
def sass_of(file: str, target: str = TARGET) -> dict[str, Code]:
    """Return the machine code of the kernels in a file."""
    return parse_sass(disassemble(_compiled(file, target).cubin))


@cache
def ptx_of(file: str, target: str = TARGET) -> dict[str, Code]:
    """Return the PTX of the kernels in a file."""
    return parse_ptx(nvrtc.compile((KERNELS / file).read_text(), target, name=file).ptx)


@cache
def resources_of(file: str, target: str = TARGET) -> dict[str, Resources]:
    """Return the registers and memory that the kernels in a file take."""
    return parse_resources(_compiled(file, target).log)
