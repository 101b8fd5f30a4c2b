# SPDX-License-Identifier: Apache-2.0
"""All that CUDA IR can say of scalars, in one module, compiles without a word for every target."""

from functools import cache

import pytest
from elementwise import Elementwise
from kernel_ir import compile_clean
from needs import needs_nvrtc
from scalar_cases import EVERY_CASE

from tilewright.codegen import nvrtc

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120")


@cache
def everything() -> str:
    """The CUDA text."""
    return Elementwise(EVERY_CASE, 128).source


@needs_nvrtc
@pytest.mark.parametrize("target", TARGETS)
def test_everything_compiles(target: str):
    ptx = compile_clean(everything(), target)
    assert f".target {target}" in ptx
    assert ptx.count(".visible .entry") == everything().count("__global__")


@needs_nvrtc
@pytest.mark.parametrize("target", TARGETS)
def test_everything_assembles(target: str):
    """PTX that the prelude writes itself is first read by the assembler."""
    assert nvrtc.compile_cubin(everything(), target).cubin.startswith(b"\x7fELF")
