# SPDX-License-Identifier: Apache-2.0
"""
What `tilewright run` runs: IR at some level, and two ways to say what its results should be.

An expression is judged by PyTorch, a file by the interpreters of the level that it is written in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import ROUNDOFF, array_of
from tilewright.codegen.launch_plan import ArrayType
from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.reference import disturbed, eager, reference
from tilewright.frontend.signature import Input
from tilewright.interpreters import interpret
from tilewright.passes.launching import launching
from tilewright.passes.levels import Level, level_of

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
    against: Function | None = None
    """The results of another program, in float64, that this one should agree with."""


def captured_program(captured: Captured) -> Program:
    """The program of a capture, with the inputs that it was captured with."""
    return Program(
        captured.module,
        exact=lambda arrays: reference(captured, arrays),
        disturbed=lambda arrays, roundings: disturbed(captured, arrays, roundings),
        rounded=lambda arrays: eager(captured, arrays),
        rounded_by="PyTorch",
        inputs=[_values(input) for input in captured.inputs],
    )


def _values(input: Input) -> Array:
    if input.tensor.is_meta:
        raise UsageError(f"the input '{input.name}' is on the device meta: it has no values")
    return array_of(input.tensor)


def module_program(module: ModuleOp, against: ModuleOp | None) -> Program:
    """
    The program of a file. One kernel without a host function gets one.

    CUDA IR has no interpreter: it is judged by `against`, or not at all.
    """
    judge = module = with_main(module)
    against = None if against is None else with_main(against)
    if level_of(module) is Level.CUDA and _has_kernels(module):
        if against is None:
            return Program(module, None, _unknown, _unknown, "interpreter")
        judge = against
    exact = _in_float64(judge)
    return Program(
        module,
        exact=exact,
        disturbed=lambda arrays, roundings: exact(disturbed_inputs(arrays, roundings)),
        rounded=lambda arrays: interpret(judge, *arrays),
        rounded_by="interpreter",
        against=None if against is None else _in_float64(against),
    )


def _unknown(*_: Any) -> list[Array]:
    raise AssertionError("what is not judged has no results to compare with")


def _in_float64(module: ModuleOp) -> Function:
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


def _has_kernels(module: ModuleOp) -> bool:
    return any(op.name == "cuda.func" for op in module.ops)


def with_main(module: ModuleOp) -> ModuleOp:
    """`module`, or if all it has is a kernel a copy with an `@main` that launches it."""
    ops = list(module.ops)
    if any(isinstance(op, func.FuncOp) and op.sym_name.data == "main" for op in ops):
        return module
    if len(ops) != 1 or not isinstance(ops[0], KernelOp | FuncOp):
        raise UsageError("the file has no function @main to run")
    extended = module.clone()
    kernel = next(op for op in extended.ops if isinstance(op, KernelOp | FuncOp))
    extended.body.block.insert_op_before(launching(kernel, "main")[0], kernel)
    return extended


def random_inputs(types: Sequence[ArrayType], seed: int) -> list[Array]:
    """Standard normal floats, and integers below 2."""
    generator = np.random.default_rng(seed)
    return [_random_input(type, generator) for type in types]


def _random_input(type: ArrayType, generator: np.random.Generator) -> Array:
    if type.dtype.name in ROUNDOFF:
        return np.asarray(generator.standard_normal(type.shape)).astype(type.dtype)
    return np.asarray(generator.integers(0, 2, type.shape)).astype(type.dtype)


def stored_inputs(path: str, names: Sequence[str]) -> list[Array]:
    """The arrays called `names` in a safetensors file."""
    stored = _stored(path)
    if missing := [name for name in names if name not in stored]:
        has = ", ".join(sorted(stored)) or "nothing"
        raise UsageError(f"'{path}' has no input called {', '.join(missing)}", remedy=f"has: {has}")
    if extra := sorted(set(stored) - set(names)):
        wants = ", ".join(names) or "no inputs"
        raise UsageError(f"'{path}' has {', '.join(extra)}, but the program takes {wants}")
    return [stored[name] for name in names]


def _stored(path: str) -> dict[str, Array]:
    """All arrays of a safetensors file; through PyTorch, for NumPy's reader knows no bfloat16."""
    from safetensors import SafetensorError, torch

    try:
        stored: dict[str, Any] = torch.load_file(path)  # pyright: ignore[reportUnknownMemberType]
        return {name: array_of(tensor) for name, tensor in stored.items()}
    except (OSError, SafetensorError) as err:
        raise UsageError(f"cannot read '{path}': {err}") from err
    except (KeyError, TypeError) as err:
        raise UsageError(f"cannot read '{path}': NumPy has no such dtype: {err}") from err
