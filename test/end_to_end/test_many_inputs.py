# SPDX-License-Identifier: Apache-2.0
"""
Programs of many tensors: each kernel computes a part of them, and all levels agree with PyTorch.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from needs import needs_nvrtc
from torch import Tensor, nn

from tilewright import api

Program = Callable[..., Any]
Case = tuple[Program, Sequence[Tensor]]


def add(*xs: Tensor) -> Tensor:
    return reduce(torch.add, xs)


def outputs(*xs: Tensor) -> list[Tensor]:
    return [add(*xs), torch.stack(xs), *(x + 1 for x in xs)]


def nested(*xs: Tensor) -> Tensor:
    return torch.cat([torch.stack(xs), torch.stack(xs[::-1])], 1)


def finished(a: Tensor, *xs: Tensor) -> Tensor:
    return a @ a + add(*xs)


def selected(*xs: Tensor) -> Tensor:
    return reduce(lambda a, b: torch.where(b > 0, a, b), xs)


def products(*xs: Tensor) -> Tensor:
    return add(*(x @ x for x in xs))


def rows(x: Tensor) -> Tensor:
    return add(*(row for row in x))


def columns(*xs: Tensor) -> Tensor:
    return torch.cat(xs, 1).softmax(-1)


def blocks(*xs: Tensor) -> Tensor:
    last = len(xs) - 1
    return torch.cat([F.pad(x, (2 * i, 2 * (last - i))) for i, x in enumerate(xs)])


def any_of(*xs: Tensor) -> Tensor:
    return reduce(torch.logical_or, xs)


def stacked(*xs: Tensor) -> Tensor:
    return torch.stack(xs)


def joined(*xs: Tensor) -> Tensor:
    return torch.cat(xs)


def recurrent(x: Tensor) -> Tensor:
    states = [x[0]]
    for step in x[1:]:
        states.append(torch.tanh(states[-1] @ x[0] + step))
    return torch.stack(states)


def copies(x: Tensor) -> Tensor:
    for row in range(1, x.shape[0]):
        x = x.select_scatter(x[row - 1] + x[row], 0, row)
    return x


def drawn(count: int, *shape: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    generator = torch.Generator().manual_seed(count)
    return [(4 * torch.randn(*shape, generator=generator)).to(dtype) for _ in range(count)]


FEW: dict[str, Case] = {
    "stack": (outputs, drawn(18, 2, 3)),
    "nested": (nested, drawn(17, 2, 2)),
}
MANY: dict[str, Case] = {
    "add": (add, drawn(400, 4)),
    "add-f64": (add, drawn(130, 4, dtype=torch.float64)),
    "add-int8": (add, drawn(150, 5, dtype=torch.int8)),
    "any": (any_of, drawn(300, 5, dtype=torch.bool)),
    "stack": (stacked, drawn(128, 8, 128)),
    "cat-half": (joined, drawn(140, 3, dtype=torch.float16)),
    "nested": (nested, drawn(140, 2, 2)),
    "outputs": (outputs, drawn(150, 2, 3)),
    "finished": (finished, drawn(140, 32, 32)),
    "selected": (selected, drawn(140, 16)),
    "products": (products, drawn(20, 8, 8)),
    "rows": (rows, drawn(1, 300, 8)),
    "columns": (columns, drawn(140, 4, 3)),
    "blocks": (blocks, drawn(140, 2, 2)),
    "copies": (copies, drawn(1, 40, 3)),
    "recurrent": (recurrent, [drawn(1, 128, 4, 4)[0] / 8]),
}


def check(program: Program, inputs: Sequence[Tensor]) -> api.CompiledProgram:
    """Compare two levels with PyTorch, and compile the program."""
    captured = api.capture(program, *inputs)
    results = program(*inputs)
    expected: Sequence[Tensor] = [results] if isinstance(results, Tensor) else results
    for level in ("loop", "kernel"):
        found = api.interpret(api.lower(captured, level), *inputs)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=1e-4)
    return api.compile(program, *inputs)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FEW)
def test_a_kernel_has_room_for_what_it_holds(name: str) -> None:
    compiled = check(*FEW[name])
    assert len(compiled.kernels) > 1


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("name", MANY)
def test_however_many_there_are(name: str) -> None:
    compiled = check(*MANY[name])
    assert max(len(launch.inputs) for launch in compiled.kernels) <= 128


@pytest.mark.usefixtures("every_case")
def test_a_layer_of_128_steps_compiles() -> None:
    compiled = api.compile(nn.RNN(4, 4).eval(), torch.randn(128, 1, 4))
    assert compiled.kernels


@needs_nvrtc
def test_parts_are_written_on_the_simulator() -> None:
    program, inputs = FEW["nested"]
    found = api.compile(program, *inputs, device="sim")(*inputs)
    assert torch.equal(found, program(*inputs))
