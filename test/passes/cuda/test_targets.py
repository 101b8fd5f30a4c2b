# SPDX-License-Identifier: Apache-2.0
"""All scalar operations of CUDA IR, in one module, compile without warnings for each target."""

from functools import cache

import pytest
from needs import needs_nvrtc

from tilewright.codegen import nvrtc

from .elementwise import Elementwise
from .kernel_ir import compile_clean
from .scalar_cases import EVERY_CASE

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120")
NEWEST = "sm_120"


@cache
def everything() -> str:
    """Return the CUDA text of all cases."""
    return Elementwise(EVERY_CASE, 128).source


def check(target: str) -> None:
    """Assert that all compiles without warnings; only the assembler reads the prelude's PTX."""
    made = nvrtc.compile_cubin(everything(), target)
    assert made.cubin.startswith(b"\x7fELF")
    ptx = compile_clean(everything(), target)  # memoised, unless there are warnings
    assert f".target {target}" in ptx
    assert ptx.count(".visible .entry") == everything().count("__global__")


@needs_nvrtc
def test_everything_compiles():
    check(NEWEST)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("target", TARGETS)
def test_everything_for_every_target(target: str):
    check(target)
