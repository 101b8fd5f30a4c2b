# SPDX-License-Identifier: Apache-2.0
"""KernelBench's level 1 as a suite equals its script's output, and is read without its inputs."""

import kernelbench_suite
import pytest
import torch

from tilewright.frontend.capture import capture
from tilewright.frontend.expression import parse_expression
from tilewright.tools.bench.published_case import read_published
from tilewright.tools.bench.suite import read_cases

CASES = {case.name: case for case in read_cases(kernelbench_suite.FILE)}


def test_the_file_is_what_the_script_makes():
    assert kernelbench_suite.FILE.read_text() == kernelbench_suite.text()


def test_all_of_level_1_is_there():
    assert [int(name.split(".")[1]) for name in CASES] == [*range(1, 101)]
    assert sum(case.min_bytes for case in CASES.values()) > 400e9  # never allocated


def test_published_times():
    published = {case.name: case for case in read_published(kernelbench_suite.FILE)}
    assert [*published] == [*CASES]
    product, convolution = published["level1.1.matmul"], published["level1.54.conv"]
    assert (product.eager_ms, product.compile_ms, product.precision) == (2.66, 2.67, "highest")
    assert (convolution.eager_ms, convolution.precision) == (1.87, "high")
    assert [name for name, case in published.items() if case.left_out] == ["level1.97.attention"]


def test_floors():
    product, rows = CASES["level1.1.matmul"], CASES["level1.19.pointwise"]
    assert product.floor_us == pytest.approx(2e6 * 4096**3 / 66.9e12, abs=0.01)
    assert rows.floor_us == pytest.approx(2e6 * 4 * 4096 * 393216 / 3.35e12, abs=0.01)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("level1.12.matmul", torch.float32),
        ("level1.33.norm", torch.float32),
        ("level1.93.scan", torch.bool),
        ("level1.95.loss", torch.int64),
    ],
)
def test_programs_are_captured_at_full_size(name: str, dtype: torch.dtype):
    case = CASES[name]
    program, written = case.program(fake=True), parse_expression(case.statements, fake=True)
    for each in (program, written):
        assert [tuple(tensor.shape) for tensor in each.args] == [*case.shapes]
        assert each.args[1].dtype == dtype
        captured = capture(each.module, each.args, each.kwargs)
        assert [output.is_tensor for output in captured.outputs] == [True]
