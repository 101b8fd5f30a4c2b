# SPDX-License-Identifier: Apache-2.0
"""
In-place writes to views that PyTorch breaks down wrongly are refused at their place; others are
correct.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import tilewright
from tilewright.errors import UnsupportedError

Program = Callable[[Tensor], Tensor]


def expanded(x: Tensor) -> Tensor:
    x.expand(2, 4).fill_(3)
    return x + 1


def expanded_result(x: Tensor) -> Tensor:
    y = (x + 1).expand(2, 4)
    y.zero_()
    return y + 1


def transposed(x: Tensor) -> Tensor:
    x[None].expand(2, 4).t()[1:].fill_(3)
    return x + 1


def masked(x: Tensor) -> Tensor:
    y = x.expand(2, 4)
    y.masked_fill_(y > 0, 3.0)
    return x + 1


@pytest.mark.parametrize("program", [expanded, expanded_result, transposed, masked])
@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
def test_elements_in_one_place(program: Program):
    with pytest.raises(
        UnsupportedError, match="elements that share memory with each other"
    ) as error:
        tilewright.capture(program, torch.ones(4))
    assert error.value.where.startswith(__file__)


def gaps(x: Tensor) -> Tensor:
    x.unfold(0, 2, 3).fill_(3)
    return x + 1


def rest(x: Tensor) -> Tensor:
    x.unfold(0, 3, 3).mul_(2)
    return x + 1


def one_of_several(x: Tensor) -> Tensor:
    x.unfold(0, 2, 1)[0].add_(3).mul_(2)
    return x + 1


def out(x: Tensor) -> Tensor:
    torch.add(torch.ones(1, 3), 1, out=x.unfold(0, 3, 3))
    return x + 1


@pytest.mark.parametrize("program", [gaps, rest, one_of_several, out])
def test_windows_that_do_not_hold_each_element_once(program: Program):
    with pytest.raises(UnsupportedError, match=r"windows of a tensor \(unfold\)"):
        tilewright.capture(program, torch.ones(4))


def once(x: Tensor) -> Tensor:
    x.expand(1, 4).fill_(3)
    x.unfold(0, 2, 2)[1].mul_(2)
    x.expand(2, 4)[1, 1:].add_(1)
    return x.unfold(0, 3, 1) + x.expand(3, 4)[:, 1:].sum(0)


def test_what_is_written_once_is_right():
    x, y = torch.ones(4), torch.ones(4)
    program = tilewright.compile(once, torch.ones(4), device="sim")
    assert program(x).equal(once(y))
    assert x.equal(y)


@pytest.mark.filterwarnings("ignore:tilewright. a graph runs in PyTorch")
def test_pytorch_runs_a_refused_graph():
    pytorch: Any = torch
    function = pytorch.compile(expanded_result, backend="tilewright")
    assert function(torch.ones(4)).equal(torch.ones(2, 4))
