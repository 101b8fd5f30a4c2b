# SPDX-License-Identifier: Apache-2.0
"""Fixture that compiles CUDA text with NVRTC and runs it in the simulator."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator import Report, simulate

Run = Callable[..., Report]


@cache
def compile_ptx(source: str) -> str:
    return nvrtc.compile(source).ptx


@pytest.fixture
def run() -> Run:
    """
    `run(source, *arguments, grid=, block=, ...)` runs the only kernel `k` of `source`.

    It fails, and does not skip, without NVRTC: these tests verify the emitted code.
    """
    assert nvrtc.available(), "these tests need NVRTC: pip install 'tilewright[cuda]'"

    def launch(source: str, *arguments: Any, grid: Any = 1, block: Any = 32, **rest: Any) -> Report:
        text = source if "__global__" in source else _kernel(source)
        ptx = compile_ptx(text)
        return simulate(ptx, "k", grid=grid, block=block, arguments=arguments, **rest)

    return launch


def _kernel(text: str) -> str:
    """Return a kernel with the text `(parameters) { body }`."""
    return f'extern "C" __global__ void k{text}'
