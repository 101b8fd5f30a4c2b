# SPDX-License-Identifier: Apache-2.0
"""Minimum work of a program in operations and bytes, and the copies of its inputs."""

import pytest
import torch
import torch.nn.functional as F

import tilewright
from tilewright.codegen.timing.roofline import Work
from tilewright.errors import UsageError
from tilewright.frontend.expression import parse_expression
from tilewright.tools.bench.work import work_of
from tilewright.tools.bench.workload import Workload, workload_of_expression


def inputs(text: str) -> list[torch.Tensor]:
    """Return tensors on the device meta, with the shapes of a text as `8x16 16x4`."""
    return [torch.empty([*map(int, each.split("x"))], device="meta") for each in text.split()]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("function", "given", "flops", "elements"),
    [
        ("torch.matmul", "8x16 16x4", 2 * 8 * 16 * 4, 8 * 16 + 16 * 4 + 8 * 4),
        ("torch.matmul", "3x8x16 16x4", 6 * 8 * 16 * 4, 3 * 128 + 64 + 96),
        ("F.linear", "8x16 4x16 4", 2 * 8 * 16 * 4, 128 + 64 + 4 + 32),
        ("torch.addmm", "8x4 8x16 16x4", 2 * 8 * 16 * 4, 32 + 128 + 64 + 32),
        ("lambda x: x.sum()", "8x16", 0, 129),
        ("lambda x: torch.max(x, dim=1)[0]", "8x16", 0, 136),
        # Unread elements do not count, nor do elements that may be read in part.
        ("lambda x, y: x + 1", "8 100", 0, 16),
        ("lambda x: x.mT[:2] + 1", "8x16", 0, 16),
        ("lambda x: x.T.relu() + x[:2].sum()", "8x16", 0, 256),
        # 1 + 2 + 3 + 4 products for each of 3 heads, with keys and with values of 8.
        (
            "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)",
            "1x3x4x8 1x3x4x8 1x3x4x8",
            2 * 3 * 10 * 16,
            4 * 96,
        ),
        ("F.scaled_dot_product_attention", "1x3x4x8 1x3x4x8 1x3x4x8", 2 * 3 * 16 * 16, 4 * 96),
        ("F.conv1d", "2x3x10 5x3x4", 2 * (2 * 5 * 7) * 12, 60 + 60 + 70),
    ],
)
def test_minimum_work(function: str, given: str, flops: int, elements: int) -> None:
    captured = tilewright.capture(eval(function, {"torch": torch, "F": F}), *inputs(given))
    assert work_of(captured) == Work(flops, 4 * elements)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("function", "share"),
    [
        ("lambda x, w: x @ w", 1),
        ("lambda x, w: x.float() @ w.to(torch.float32)", 1),
        ("lambda x, w: x.float().reshape(2, 4, 16) @ w.float()", 1),
        ("lambda x, w: x.float() @ (w.float() * 1.1)", 0),
        ("lambda x, w: F.linear(x, w.T) + (x.float() + 1) @ w.float()", 0.5),
    ],
)
def test_products_of_half_types(function: str, share: float) -> None:
    x, w = (torch.empty(*shape, dtype=torch.bfloat16) for shape in ((8, 16), (16, 4)))
    work = work_of(tilewright.capture(eval(function, {"torch": torch, "F": F}), x, w))
    assert work.flops in (1024, 2048)
    assert work.half_flops == share * work.flops


def test_attention_of_half_types() -> None:
    q, mask = torch.empty(1, 2, 4, 8, dtype=torch.float16), torch.ones(4, 4, dtype=torch.bool)
    for given in ((q, q, q), (q, q, q, mask)):
        work = work_of(tilewright.capture(F.scaled_dot_product_attention, *given))
        assert work.half_flops == work.flops == 2 * 2 * 16 * 16


def test_an_expanded_input_is_read_once() -> None:
    captured = tilewright.capture(torch.relu, torch.ones(1, 16).expand(8, 16))
    assert work_of(captured).bytes == 4 * (16 + 128)


def test_a_module_is_called_with_copies_of_its_parameters() -> None:
    expression = parse_expression("nn.Linear(4, 2)(torch.randn(3, 4))", seed=1)
    workload = workload_of_expression(expression)
    one, two = workload.copy("cpu"), workload.copy("cpu")
    expected = expression.module(*expression.args)
    for parameter in two.named.values():
        parameter.zero_()
    assert torch.equal(workload.function(*workload.arguments(one)), expected)
    assert not torch.equal(workload.function(*workload.arguments(two)), expected)
    # A plan takes the same tensors, in the order of the captured function.
    assert {t.data_ptr() for t in one.values} == {
        t.data_ptr() for t in (*one.named.values(), *one.leaves)
    }
    shapes = [tuple(tensor.shape) for tensor in one.values]
    assert shapes == [tuple(input.tensor.shape) for input in workload.captured.inputs]
    assert workload.bytes == 4 * (8 + 2 + 12)


def test_constants_of_a_function_are_copied_too() -> None:
    constant = torch.arange(4.0)

    def shifted(x: torch.Tensor) -> torch.Tensor:
        return x + constant

    workload = Workload(shifted, (torch.zeros(4),))
    values = workload.copy("cpu").values
    assert sorted(float(t.sum()) for t in values) == [0.0, 6.0][-len(values) :]
    assert all(t.data_ptr() != constant.data_ptr() for t in values)


def test_an_exported_program_brings_its_inputs() -> None:
    exported = torch.export.export(torch.nn.ReLU(), (torch.tensor([-1.0, 2.0]),))
    workload = Workload(exported, ())
    found = workload.function(*workload.arguments(workload.copy("cpu")))
    assert found.tolist() == [0.0, 2.0]


def test_programs_that_write_their_inputs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the program writes .*: no two calls would compute"):
        Workload(torch.Tensor.relu_, (torch.zeros(4),))
