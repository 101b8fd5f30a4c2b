# SPDX-License-Identifier: Apache-2.0
"""Values that depend on no input and no weight are computed at capture."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tilewright.arrays import array_of, tensor_of
from tilewright.errors import UnsupportedError
from tilewright.frontend.affine_values import Affine, affine_of, bounds_of, predicate, splat_of
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.reference import eager
from tilewright.interpreters import interpret


def ops(captured: Captured) -> list[str]:
    (main, *_) = captured.module.ops
    return [op.name for op in main.regions[0].block.ops]


def check(function: Callable[[Any], Any], x: torch.Tensor) -> Captured:
    """Return the captured function after a check that its Torch IR computes PyTorch's result."""
    captured = capture(function, (x,))
    arrays = [array_of(input.tensor) for input in captured.inputs]
    (got,) = interpret(captured.module, *arrays)
    torch.testing.assert_close(tensor_of(got), function(x))
    torch.testing.assert_close(tensor_of(eager(captured, arrays)[0]), function(x))
    return captured


def positions(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(n)[:, None], torch.arange(n)[None]


def test_a_causal_mask_is_a_predicate() -> None:
    def causal(x: torch.Tensor) -> torch.Tensor:
        q, k = positions(x.shape[-1])
        return torch.where(k <= q, x, float("-inf"))

    captured = check(causal, torch.randn(2, 8, 8))
    assert "prim.predicate" in ops(captured)
    assert [input.kind for input in captured.inputs] == ["input"]
    assert "affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> : tensor<8x8xi1>" in str(captured.module)


def test_a_window_is_a_predicate_of_two_bounds() -> None:
    def window(x: torch.Tensor) -> torch.Tensor:
        q, k = positions(x.shape[-1])
        return torch.where((k <= q) & (q - k < 3), x, 0.0)

    captured = check(window, torch.randn(8, 8))
    assert "((d0 + (d1 * -1)), (((d0 * -1) + d1) + 2))" in str(captured.module)


def test_what_is_outside_of_a_window_is_a_predicate_too() -> None:
    def masked(x: torch.Tensor) -> torch.Tensor:
        q, k = positions(x.shape[-1])
        return x.masked_fill(~((k <= q) & (q - k < 3)), float("-inf"))

    captured = check(masked, torch.randn(8, 8))
    assert ops(captured)[:2] == ["prim.predicate", "torch.logical_not"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_an_additive_mask_is_a_choice_of_two_numbers(dtype: torch.dtype) -> None:
    least = torch.finfo(dtype).min

    def biased(x: torch.Tensor) -> torch.Tensor:
        n = x.shape[-1]
        return x + torch.full((n, n), least, dtype=dtype).triu(1)

    captured = check(biased, torch.randn(8, 8).to(dtype))
    assert ops(captured)[:3] == ["prim.predicate", "torch.full", "torch.where.ScalarOther"]
    assert len(captured.inputs) == 1


def test_a_mask_of_integers_is_a_choice_too() -> None:
    captured = check(lambda x: x * torch.ones(8, 8, dtype=torch.int64).tril(), torch.randn(8, 8))
    assert len(captured.inputs) == 1


def test_what_is_outside_of_a_window_may_come_first() -> None:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        q, k = positions(x.shape[-1])
        return x + torch.where((q - k >= 2) & (q - k < 4), 0.0, float("-inf"))

    assert len(check(shifted, torch.randn(8, 8)).inputs) == 1


def test_a_zero_keeps_its_sign() -> None:
    def signed(x: torch.Tensor) -> torch.Tensor:
        return x / (torch.arange(3) * torch.tensor([0.0, -0.0, -0.0]))

    check(signed, torch.ones(3))


def test_positions_and_numbers_need_no_memory() -> None:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        row = torch.arange(4)[:, None] * 2 + torch.arange(8) + 3
        return x + row + torch.ones(4, 8).cumsum(1)[:, -1:].sqrt()

    captured = check(shifted, torch.randn(4, 8))
    assert "prim.iota" in ops(captured)
    assert "torch.full" in ops(captured)
    assert len(captured.inputs) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_positions_of_other_types_are_converted(dtype: torch.dtype) -> None:
    def rotated(x: torch.Tensor) -> torch.Tensor:
        return x * (torch.arange(300)[:, None] - 3).to(dtype)

    captured = check(rotated, torch.randn(300, 2).to(dtype))
    assert ops(captured)[:2] == ["prim.iota", "torch._to_copy"]
    assert len(captured.inputs) == 1


def test_a_table_is_a_constant() -> None:
    def rotated(x: torch.Tensor) -> torch.Tensor:
        return x * torch.cos(torch.arange(8) * 0.5)

    captured = check(rotated, torch.randn(4, 8))
    assert ops(captured) == ["torch.mul", "func.return"]
    table = next(input for input in captured.inputs if input.kind == "constant")
    torch.testing.assert_close(table.tensor, torch.cos(torch.arange(8) * 0.5))
    assert f'torch.name = "{table.name}"' in str(captured.module)


def test_one_part_may_be_used_by_another() -> None:
    # Both the table and the value computed from it are used with the input.
    def nested(x: torch.Tensor) -> torch.Tensor:
        table = torch.arange(8).cos()
        return x * table + table.sin()

    assert len(check(nested, torch.randn(8)).inputs) == 3


def test_what_depends_on_an_input_stays() -> None:
    captured = check(lambda x: x.cos() + 1, torch.randn(3))
    assert ops(captured) == ["torch.cos", "torch.add.Scalar", "func.return"]


def test_random_numbers_are_not_folded() -> None:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(3).cos()

    with pytest.raises(UnsupportedError, match="random"):
        capture(noisy, (torch.randn(3),))


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-6, 6)), max_size=3),
)
def test_bounds_hold_where_the_mask_does(
    rows: int, columns: int, drawn: list[tuple[int, int, int]]
) -> None:
    mask = predicate((rows, columns), [Affine((a, b), c) for a, b, c in drawn])
    bounds = bounds_of(mask)
    assert bounds is None or torch.equal(predicate(mask.shape, bounds), mask)


@given(st.lists(st.integers(1, 4), max_size=3), st.data())
def test_affine_values_are_found(shape: list[int], data: st.DataObject) -> None:
    coefficients = [data.draw(st.integers(-5, 5)) if size > 1 else 0 for size in shape]
    value = Affine(tuple(coefficients), data.draw(st.integers(-9, 9)))
    assert affine_of(value.at(shape)) == value


def test_values_that_are_no_formula() -> None:
    scattered = torch.tensor([True, False, True])
    assert bounds_of(scattered) is None
    assert affine_of(torch.tensor([0, 1, 4])) is None
    assert affine_of(torch.tensor([-0.0, 1.0])) is None
    assert affine_of(torch.tensor([0.0, 0.5])) is None
    assert affine_of(torch.tensor([0.0, float("nan")])) is None
    assert affine_of(torch.tensor([0.0, 3e38])) is None
    assert affine_of(torch.tensor([2**63 - 1, -(2**63)])) is None
    assert affine_of(torch.tensor([255, 0, 1], dtype=torch.uint8)) is None
    assert splat_of(torch.tensor([1.0, 2.0])) is None
    assert splat_of(torch.empty(0)) is None
    assert bounds_of(torch.zeros(2, 2, dtype=torch.bool)) is None
