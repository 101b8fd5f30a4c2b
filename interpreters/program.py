# SPDX-License-Identifier: Apache-2.0
"""A program whose results can be compared: its IR, and functions that compute the right results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import ROUNDOFF
from tilewright.interpreters.host import interpret
from tilewright.interpreters.rounded_factors import with_rounded_factors

Array = NDArray[Any]
Function = Callable[[Sequence[Array]], list[Array]]


@dataclass(frozen=True)
class Program:
    """A program's IR, and functions that compute its right results."""

    module: ModuleOp
    exact: Function | None
    """
    Function that returns the results in float64; None for CUDA IR alone, which only the simulator
    runs.
    """
    perturbed: Callable[[Sequence[Array], float], list[Array]]
    """
    Function of inputs and a number n; it returns the results in float64 with each value off by n
    roundings.
    """
    rounded: Function
    """Reference: a function that returns the results in the program's own dtypes."""
    rounded_by: str
    """Name of the reference in headings, as `PyTorch`."""
    inputs: Sequence[Array] | None = None
    """Inputs to run with, if the program has its own."""
    against: "Program | None" = None
    """Another program that should have the same results."""
    coarse: Function | None = None
    """
    Function that returns the results with the factors of products rounded as far as the program's
    precision allows; None if it allows no rounding.
    """


def interpreted_program(module: ModuleOp, against: ModuleOp | None = None) -> Program:
    """
    Return the program of a module with a function `@main`, whose reference is the interpreter.
    """
    exact = in_float64(module)
    return Program(
        module,
        exact=exact,
        perturbed=lambda arrays, roundings: exact(perturbed_inputs(arrays, roundings)),
        rounded=lambda arrays: interpret(module, *arrays),
        rounded_by="interpreter",
        against=None if against is None else interpreted_program(against),
        coarse=interpreted_coarse(module),
    )


def interpreted_coarse(module: ModuleOp) -> Function | None:
    """
    Return a function that interprets a module at Loop IR or below with rounded factors; None if no
    product allows to round them.
    """
    rounded = with_rounded_factors(module)
    return None if rounded is None else lambda arrays: interpret(rounded, *arrays)


def in_float64(module: ModuleOp) -> Function:
    """Return a function that interprets the module with all floats in float64."""
    return lambda arrays: interpret(module, *arrays, dtype=np.float64)


def perturbed_inputs(arrays: Sequence[Array], roundings: float) -> list[Array]:
    """
    Return the floats in float64, each off by `roundings` times its unit roundoff, up or down at
    random.
    """
    generator = np.random.default_rng(0)
    signs = [generator.choice([-1.0, 1.0], array.shape) for array in arrays]
    return [
        array.astype(np.float64) * (1 + roundings * ROUNDOFF[array.dtype.name] * sign)
        if array.dtype.name in ROUNDOFF
        else array
        for array, sign in zip(arrays, signs, strict=True)
    ]
