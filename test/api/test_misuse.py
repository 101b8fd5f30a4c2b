# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a REPL are a `UsageError` that names them, or work as they look."""

import copy
import pickle
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
import torch
from needs import needs_nvrtc

import tilewright
from tilewright.errors import UsageError

X = torch.ones(4, 6)

api: Any = tilewright  # what the type checker refuses is what is tried


@pytest.fixture(scope="module")
def captured() -> Any:
    """A function of a dictionary of tensors."""
    return tilewright.capture(difference, {"a": X, "b": [X, 2]})


def difference(batch: dict[str, Any]) -> torch.Tensor:
    """Function whose result depends on the order of its tensors."""
    tensor, factor = batch["b"]
    return batch["a"] - tensor * factor


def generator(x: torch.Tensor) -> Generator[torch.Tensor]:
    """Generator of tensors."""
    yield x


async def coroutine(x: torch.Tensor) -> torch.Tensor:
    """Coroutine of a tensor."""
    return x


MISTAKES: dict[str, tuple[Callable[[Any], object], str]] = {
    "kwargs": (
        lambda captured: api.compile(torch.relu, X, kwargs=[1]),
        "kwargs is a mapping of names to values, not list",
    ),
    "target": (
        lambda captured: api.compile(torch.relu, X, target=90),
        "a target is a name such as 'sm_90a', not 90",
    ),
    "database": (
        lambda captured: api.compile(torch.relu, X, db=3),
        "db is a path or a bool, not 3",
    ),
    "no database": (
        lambda captured: api.lower(captured, "loop", db=None),
        "db is a path or a bool, not None",
    ),
    "a number for a level": (
        lambda captured: api.lower(captured, 3),
        "unknown level '3' (levels: torch, tensor, loop, tile, kernel, cuda)",
    ),
    "a level in capitals": (
        lambda captured: api.lower(captured, "TILE"),
        "unknown level 'TILE' (did you mean tile?)",
    ),
    "a list of numbers": (
        lambda captured: api.interpret(captured, [[1.0] * 6] * 4, X),
        "argument 0 of @main has dtype float64, expected float32",
    ),
    "a text": (
        lambda captured: api.interpret(captured, "x", X),
        "argument 0 of @main has shape (), expected (4, 6)",
    ),
    "no inputs": (
        lambda captured: api.compile(difference),
        f"{__file__}:{difference.__code__.co_firstlineno}: 'difference' cannot be called with no "
        "inputs: missing a required argument: 'batch'\n    def difference(",
    ),
    "too many inputs": (
        lambda captured: api.compile(difference, X, X),
        f"{__file__}:{difference.__code__.co_firstlineno}: 'difference' cannot be called with 2 "
        "inputs: too many positional arguments\n",
    ),
    "no inputs of a module of PyTorch": (
        lambda captured: api.compile(torch.nn.Linear(3, 3)),
        "'Linear' cannot be called with no inputs: missing a required argument: 'input'",
    ),
    "a generator": (
        lambda captured: api.compile(generator, X),
        f"{__file__}:{generator.__code__.co_firstlineno}: 'generator' is a generator function: "
        "return a tensor, or a tuple or list of them\n    def generator(",
    ),
    "a partial of a coroutine": (
        lambda captured: api.compile(partial(coroutine, X)),
        f"{__file__}:{coroutine.__code__.co_firstlineno}: 'coroutine' is a coroutine: return",
    ),
    "a copy": (copy.deepcopy, "a capture is neither copied nor pickled"),
    "a pickle": (pickle.dumps, "a capture is neither copied nor pickled"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake: str, captured: Any):
    attempt, message = MISTAKES[mistake]
    with pytest.raises(UsageError) as caught:
        attempt(captured)
    assert str(caught.value).startswith(message)


def test_a_program_is_not_compiled_again():
    program = tilewright.compile(torch.relu, X, target="sm_90a", device="sim")
    with pytest.raises(UsageError, match="a compiled program cannot be captured"):
        tilewright.compile(program, X)
    with pytest.raises(UsageError) as caught:
        program([[0.0] * 60] * 60)
    assert str(caught.value).endswith(
        "not ([[float, float, float, ...], [float, float, float, ...], "
        "[float, float, float, ...], ...])"
    )
    with pytest.raises(UsageError, match="the program takes 1 input, got 0"):
        program.run([])


@needs_nvrtc
def test_keys_may_come_in_another_order():
    program = tilewright.compile(difference, {"a": X, "b": [X, 2]}, target="sm_90a", device="sim")
    result = program({"b": [3 * X, 2], "a": X})
    assert cast(torch.Tensor, result).equal(-5 * X)
    with pytest.raises(UsageError, match=r"not \({'b': \[Tensor, int\]}\)"):
        program({"b": [X, 2]})


def test_tensors_and_arrays_are_interpreted_alike(captured: Any):
    (expected,) = tilewright.interpret(captured, X, X)
    (found,) = tilewright.interpret(captured, np.ones((4, 6), np.float32), X)
    np.testing.assert_array_equal(found, expected)
