# SPDX-License-Identifier: Apache-2.0
"""A program whose results can be judged: IR, and two ways to say what it should compute."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import ROUNDOFF
from tilewright.interpreters.host import interpret

Array = NDArray[Any]
Function = Callable[[Sequence[Array]], list[Array]]


@dataclass(frozen=True)
class Program:
    """IR whose results can be judged."""

    module: ModuleOp
    exact: Function | None
    """The results in float64; None for CUDA IR alone, which only the simulator understands."""
    disturbed: Callable[[Sequence[Array], float], list[Array]]
    """The results in float64 of values that are each off by so many units of roundoff."""
    rounded: Function
    """The results in the program's own dtypes, by someone whom we trust."""
    rounded_by: str
    """Who that is, as a heading: `PyTorch`."""
    inputs: Sequence[Array] | None = None
    """The values to run with, where the program brings its own."""
    against: "Program | None" = None
    """Another program that this one should agree with."""


def interpreted_program(module: ModuleOp, against: ModuleOp | None = None) -> Program:
    """
    Return the program of IR with a function `@main`, which the interpreter of its level judges.
    """
    exact = in_float64(module)
    return Program(
        module,
        exact=exact,
        disturbed=lambda arrays, roundings: exact(disturbed_inputs(arrays, roundings)),
        rounded=lambda arrays: interpret(module, *arrays),
        rounded_by="interpreter",
        against=None if against is None else interpreted_program(against),
    )


def in_float64(module: ModuleOp) -> Function:
    """What the module computes when all of its floats are float64."""
    return lambda arrays: interpret(module, *arrays, dtype=np.float64)


def disturbed_inputs(arrays: Sequence[Array], roundings: float) -> list[Array]:
    """Floats in float64, each off by so many units of roundoff, up or down at random."""
    generator = np.random.default_rng(0)
    signs = [generator.choice([-1.0, 1.0], array.shape) for array in arrays]
    return [
        array.astype(np.float64) * (1 + roundings * ROUNDOFF[array.dtype.name] * sign)
        if array.dtype.name in ROUNDOFF
        else array
        for array, sign in zip(arrays, signs, strict=True)
    ]
