# SPDX-License-Identifier: Apache-2.0
"""
Pairs of small kernels: one with a bug, which must be found, and its twin without, which is clean.

Both are one text, in which `<<with the bug ||| without>>` stands where they differ. `/*!*/` marks
the lines that the finding may name. A pair has a head:

    //// name | kind of finding | arguments, as `float32 64` | grid 1, block 64
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator import Report, TensorMap, simulate
from tilewright.codegen.simulator.arguments import Argument

_FOLDER = Path(__file__).parent / "pairs"
_IDIOMS = Path(__file__).parent / "idioms.cu"
ENTRY = '\nextern "C" __global__ void '
PRELUDE = (_FOLDER / "prelude.cuh").read_text() + ENTRY
_DIFFERENCE = re.compile(r"<<(.*?)\|\|\|(.*?)>>", re.DOTALL)
_STEPS = {"box": (1, 1), "strided box": (2, 1)}
"""Argument kinds that are a tensor map of an 8x16 box in a 16x32 array, followed by the array."""


@dataclass(frozen=True)
class Pair:
    """
    A kernel with and without a bug.

    `kernel` is its text from the name `k` on; `arguments` are types and lengths of arrays.
    """

    name: str
    kind: str
    arguments: tuple[str, ...]
    grid: int
    block: int
    kernel: str

    def run(self, *, bug: bool) -> tuple[Report, list[int]]:
        """Run the kernel with or without the bug; return its findings and the marked lines."""
        text, marked = _both(self.kernel)
        report = simulate(
            _compiled(text),
            "k_with_bug" if bug else "k",
            grid=self.grid,
            block=self.block,
            arguments=[argument for each in self.arguments for argument in _made(each)],
        )
        return report, marked


def pairs() -> Iterator[Pair]:
    """Yield all pairs, file by file."""
    for path in sorted(_FOLDER.glob("*.cu")):
        for text in path.read_text().split("\n//// ")[1:]:
            head, _, kernel = text.partition("\n")
            name, kind, arguments, shape = head.split(" | ")
            grid, block = map(int, re.findall(r"\d+", shape))
            arrays = tuple(arguments.split(", "))
            yield Pair(f"{path.stem}: {name}", kind, arrays, grid, block, kernel)


def idioms() -> Iterator[Pair]:
    """Yield the correct kernels of `idioms.cu`, whose heads name no finding."""
    for text in _IDIOMS.read_text().split("\n//// ")[1:]:
        head, _, kernel = text.partition("\n")
        name, arguments, shape = head.split(" | ")
        grid, block = map(int, re.findall(r"\d+", shape))
        yield Pair(name, "", tuple(arguments.split(", ")), grid, block, kernel)


def _both(kernel: str) -> tuple[str, list[int]]:
    """
    Return the text with both kernels, and the marked lines.

    One text takes half of the time to compile.
    """
    with_bug = _DIFFERENCE.sub(r"\1", kernel).replace("k(", "k_with_bug(", 1)
    text = PRELUDE + with_bug + ENTRY + _DIFFERENCE.sub(r"\2", kernel)
    lines = enumerate((PRELUDE + with_bug).split("\n"), 1)
    return text, [number for number, line in lines if "/*!*/" in line]


@cache
def _compiled(text: str) -> str:
    return nvrtc.compile(text).ptx


def _made(argument: str) -> list[Argument]:
    if argument in _STEPS:
        x = np.zeros((16, 32), np.float32)
        return [TensorMap(x, (8, 16), element_strides=_STEPS[argument]), x]
    dtype, length = argument.split()
    return [np.zeros(int(length), dtype)]
