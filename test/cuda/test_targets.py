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
SOME = ("sm_80", "sm_120")
"""The oldest and the newest."""


@cache
def everything() -> str:
    """The CUDA text."""
    return Elementwise(EVERY_CASE, 128).source


def compiles(target: str) -> None:
    """Without a word."""
    ptx = compile_clean(everything(), target)
    assert f".target {target}" in ptx
    assert ptx.count(".visible .entry") == everything().count("__global__")


def assembles(target: str) -> None:
    """PTX that the prelude writes itself is first read by the assembler."""
    assert nvrtc.compile_cubin(everything(), target).cubin.startswith(b"\x7fELF")


@needs_nvrtc
@pytest.mark.parametrize("target", SOME)
def test_everything_compiles(target: str):
    compiles(target)


@needs_nvrtc
@pytest.mark.parametrize("target", SOME)
def test_everything_assembles(target: str):
    assembles(target)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("target", TARGETS)
def test_everything_for_every_target(target: str):
    compiles(target)
    assembles(target)
