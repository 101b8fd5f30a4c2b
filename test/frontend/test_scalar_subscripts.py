# SPDX-License-Identifier: Apache-2.0
"""A tensor without dimensions can be a subscript, as a number that is only known at run time."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tilewright import api

Case = Callable[[Any, Any, Any], Any]

READS: list[Case] = [
    lambda x, p, q: x[p],
    lambda x, p, q: x[:, p],
    lambda x, p, q: x[..., p],
    lambda x, p, q: x[None, p, :, 1:],
    lambda x, p, q: x[p, q],
    lambda x, p, q: x[1:, q, None, p],
    lambda x, p, q: x[-1, p],
    lambda x, p, q: x[p][q],
    lambda x, p, q: x[p, :, q],
]


def write(x: Any, subscript: Any, value: Any) -> Any:
    y = x.clone()
    y[subscript] = value
    return y


WRITES: list[Case] = [
    lambda x, p, q: write(x, p, 1.0),
    lambda x, p, q: write(x, (slice(None), p), x[:, 0] * 2),
    lambda x, p, q: write(x, (Ellipsis, p), x[0, :, 1]),
    lambda x, p, q: write(x, (p, q), x[0, 0]),
    lambda x, p, q: write(x, (p, slice(None), q), x[0, :, 0]),
    lambda x, p, q: write(x, (1, slice(1, 3), p), 3.0),
    lambda x, p, q: write(x, (None, p, slice(None), 2), x[0, :, 0]),
]


def check(function: Callable[..., Any], p: int, q: int) -> None:
    x, first, second = torch.randn(4, 5, 6), torch.tensor(p), torch.tensor(q, dtype=torch.int32)
    captured = api.capture(function, x, first, second)
    inputs = [x, first, second][: len(captured.inputs)]
    (got,) = api.interpret(api.lower(captured, "loop"), *inputs)
    torch.testing.assert_close(torch.as_tensor(got), function(x, first, second))


def test_reads() -> None:
    def all_reads(x: Any, p: Any, q: Any) -> Any:
        return torch.cat([read(x, p, q).reshape(-1) for read in READS])

    check(all_reads, 2, 3)
    check(all_reads, -1, -4)


def test_writes() -> None:
    def all_writes(x: Any, p: Any, q: Any) -> Any:
        return torch.stack([change(x, p, q) for change in WRITES])

    check(all_writes, 2, 3)
    check(all_writes, -1, -4)


def test_a_cache_is_written_in_place() -> None:
    def step(cache: Any, y: Any, position: Any) -> Any:
        cache[:, position] = y
        return cache.sum()

    cache, y = torch.zeros(2, 8), torch.randn(2)
    program = api.compile(step, cache.clone(), y, torch.tensor(0))
    totals = [program(cache, y, torch.tensor(position)) for position in range(3)]
    torch.testing.assert_close(totals[-1], 3 * y.sum())
    torch.testing.assert_close(cache[:, :3], y[:, None].expand(2, 3))


def test_out_of_bounds_is_an_error() -> None:
    def chosen(x: Any, p: Any) -> Any:
        return x[p]

    program = api.capture(chosen, torch.randn(4), torch.tensor(1))
    with pytest.raises(Exception, match="not an index of an axis of size 4"):
        api.interpret(api.lower(program, "loop"), torch.randn(4), torch.tensor(4))


def base_is_written(x: Any, p: Any, q: Any) -> Any:
    y = x.clone()
    row, part = y[p], y[:, p, 1:]
    last = row[1:].T
    y[:, 1:] *= 2
    y.sub_(1)
    return torch.cat([row.flatten(), last.flatten(), part.flatten(), y.flatten()])


def part_is_written(x: Any, p: Any, q: Any) -> Any:
    y = x.clone()
    y[p].mul_(2)
    y[:, p].T[0].fill_(3)
    y[p][q].add_(1)
    row = y[q]
    row[0] = 7
    torch.neg(row[1], out=row[1])
    return y


def neither_is_a_view(x: Any, p: Any, q: Any) -> Any:
    y = x.clone()
    copy = y[p, torch.tensor([0, 1])]
    clone, more = y[p].clone(), y[p] + 1
    copy.zero_()
    y[p] = 9
    return torch.cat([copy.flatten(), clone.flatten(), more.flatten(), y.flatten()])


def elements_move(x: Any, p: Any, q: Any) -> Any:
    y = x.clone()
    for position in (p, q, p):
        row = y[position]
        y[position] = row.flip(0) + y[q]
        row += 1
    return torch.cat([row.flatten(), y.flatten()])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "case", [base_is_written, part_is_written, neither_is_a_view, elements_move]
)
def test_what_is_read_is_a_view(case: Case) -> None:
    check(case, 2, 3)
    check(case, -1, 1)


def test_a_part_of_an_input_is_written() -> None:
    def program(x: Any, p: Any) -> Any:
        row = x[p]
        row.mul_(2)
        return row.sum()

    x, expected, p = torch.ones(3, 4), torch.ones(3, 4), torch.tensor(1)
    assert api.interpret(api.capture(program, x, p), x, p) == [8]
    program(expected, p)
    torch.testing.assert_close(x, expected)
