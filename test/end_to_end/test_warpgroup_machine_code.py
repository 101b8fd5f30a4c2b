# SPDX-License-Identifier: Apache-2.0
"""Machine code of products by warpgroups: what ptxas says about it, and the loop around `HGMMA`."""

import pytest
import torch
from needs import needs_nvdisasm, needs_nvrtc

import tilewright
from tilewright.codegen import nvrtc
from tilewright.codegen.report.disassemble import disassemble
from tilewright.codegen.report.instruction import Instruction
from tilewright.codegen.report.sass import parse_sass

MOST_BESIDE = 10
"""
Most instructions beside a matrix instruction, between the fence and the wait of a step, on average.
"""

SHAPES = [
    (256, 2048, 4096, True),
    (2048, 2048, 2048, False),
    (512, 4096, 14336, True),
]
"""Rows, columns, steps, and true if the right matrix is stored transposed."""


@needs_nvrtc
@needs_nvdisasm
@pytest.mark.parametrize(("m", "n", "k", "transposed"), SHAPES)
def test_multiplications_are_not_serialised(m: int, n: int, k: int, transposed: bool) -> None:
    a = torch.empty(m, k, dtype=torch.bfloat16, device="meta")
    shape = (n, k) if transposed else (k, n)
    b = torch.empty(shape, dtype=torch.bfloat16, device="meta")

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ (b.T if transposed else b)

    compiled = tilewright.compile(product, a, b, target="sm_90a", db=False)
    (schedule,) = compiled.schedule.values()
    assert "m64nNk16_bf16" in schedule
    cubin = nvrtc.compile_cubin(compiled.cuda_source, "sm_90a")
    # PTX ISA: C7510, multiplications are serialised; C7508, a limit of registers is ignored.
    assert not {"C7508", "C7510", "serialized"} & {*cubin.log.replace(",", " ").split()}
    assert "0 bytes spill stores" in cubin.log
    (code,) = parse_sass(disassemble(cubin.cubin)).values()
    steps = steps_of(code.instructions)
    assert steps
    multiply = sum(each.opcode.startswith("HGMMA") for step in steps for each in step)
    assert sum(map(len, steps)) - multiply <= MOST_BESIDE * multiply


def steps_of(instructions: tuple[Instruction, ...]) -> list[list[Instruction]]:
    """Return the instructions between each fence of a warpgroup and the next wait."""
    found: list[list[Instruction]] = []
    inside: list[Instruction] | None = None
    for each in instructions:
        if each.opcode == "WARPGROUP.ARRIVE":
            inside = []
        elif each.opcode.startswith("WARPGROUP.DEPBAR") and inside:
            found.append(inside)
            inside = None
        elif inside is not None:
            inside.append(each)
    return found
