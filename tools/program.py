# SPDX-License-Identifier: Apache-2.0
"""
What `tilewright run` runs: IR at some level, and two ways to say what its results should be.

An expression is judged by PyTorch, a file by the interpreters of the level that it is written in.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import array_of
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.reference import disturbed, eager, reference
from tilewright.frontend.reference_memory import bytes_of_reference
from tilewright.frontend.signature import Input
from tilewright.interpreters.memory import require_memory
from tilewright.interpreters.program import Program, interpreted_program
from tilewright.passes.launching import with_main
from tilewright.passes.levels import Level, level_of

Array = NDArray[Any]


def captured_program(captured: Captured) -> Program:
    """
    The program of a capture, with the inputs that it was captured with.

    Raises `TooLargeError` where PyTorch has not enough memory to compute what is right.
    """
    needed = bytes_of_reference(captured)
    require_memory(needed, "computing what the results should be", "use smaller shapes")
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
    module = with_main(module)
    against = None if against is None else with_main(against)
    if level_of(module) is not Level.CUDA or not _has_kernels(module):
        return interpreted_program(module, against)
    if against is None:
        return unjudged_program(module)
    judged = interpreted_program(against, against)
    return replace(judged, module=module)


def unjudged_program(module: ModuleOp, inputs: Sequence[Array] | None = None) -> Program:
    """A program whose results are not compared with anything."""
    return Program(module, None, _unknown, _unknown, "interpreter", inputs)


def _unknown(*_: Any) -> list[Array]:
    raise AssertionError("what is not judged has no results to compare with")


def _has_kernels(module: ModuleOp) -> bool:
    return any(op.name == "cuda.func" for op in module.ops)


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
