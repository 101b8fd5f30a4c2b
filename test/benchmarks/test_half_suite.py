# SPDX-License-Identifier: Apache-2.0
"""The suite in half types equals its script's output, and its inputs have its dtypes."""

import half_suite
import pytest
import torch

from tilewright.frontend.expression import parse_expression
from tilewright.tools.bench.suite import read_cases


def test_the_file_is_what_the_script_makes():
    assert half_suite.FILE.read_text() == half_suite.text()


def test_names_say_the_dtype():
    cases = [*read_cases(half_suite.FILE)]
    names = {case.name: case.dtype for case in cases}
    assert len(names) == len(cases) == 84 + 8 + 8
    assert {name.rpartition(".")[2] for name in names} == {"bf16", "fp16"}
    assert all((dtype == "float16") == name.endswith("fp16") for name, dtype in names.items())


@pytest.mark.parametrize(
    "name", ["rmsnorm.qwen.s32.bf16", "naive_attn.qwen.s32.bf16", "sdpa.qwen.s512.fp16"]
)
def test_inputs_have_the_dtype(name: str):
    (case,) = read_cases(half_suite.FILE, name)
    dtype = getattr(torch, case.dtype)
    program = case.program(fake=True)
    assert {tensor.dtype for tensor in program.args} == {dtype}
    assert program.module(*program.args).dtype == dtype
    written = parse_expression(case.statements)
    assert [tensor.dtype for tensor in written.args] == [dtype] * len(case.shapes)
    assert [tuple(tensor.shape) for tensor in written.args] == [*case.shapes]


def test_floors():
    (product,) = read_cases(half_suite.FILE, "4096x4096x4096.bf16")
    assert product.floor_us == pytest.approx(2e6 * 4096**3 / 989.4e12, abs=0.01)
    assert product.min_bytes == 3 * 2 * 4096**2
