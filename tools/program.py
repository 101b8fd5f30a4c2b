# SPDX-License-Identifier: Apache-2.0
"""
Program of `tilewright run`: IR at some level, and its expected results.

PyTorch computes the expected results of an expression; the interpreter of the file's level computes
those of a file of IR.
"""

import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import replace
from io import StringIO
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Operation, SSAValue

from tilewright.arrays import MAX_RANK, array_of
from tilewright.dialects.precision import allows_rounding
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import parse_expression
from tilewright.frontend.reference import (
    bytes_of_reference,
    coarse,
    eager,
    perturbed,
    reference,
)
from tilewright.frontend.signature import Input
from tilewright.interpreters.memory import require_memory
from tilewright.interpreters.program import (
    Function,
    Program,
    interpreted_coarse,
    interpreted_program,
)
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower
from tilewright.passes.rewriting.launching import with_main

Array = NDArray[Any]

_LARGE = 1 << 28
"""Size of inputs, in bytes, that takes about a second to draw at random."""


def captured_program(captured: Captured) -> Program:
    """
    Return the program of a capture, with the inputs of the capture.

    Raises `TooLargeError` if memory does not suffice for PyTorch to compute the expected results.
    """
    _require_reference(captured)
    return Program(
        captured.module,
        exact=lambda arrays: reference(captured, arrays),
        perturbed=lambda arrays, roundings: perturbed(captured, arrays, roundings),
        rounded=lambda arrays: eager(captured, arrays),
        rounded_by="PyTorch",
        inputs=[_values(input) for input in captured.inputs],
        coarse=coarse_function(captured),
    )


def coarse_function(captured: Captured) -> Function | None:
    """
    Return the function that computes the results with rounded factors; None if the program's
    precision allows no rounding.
    """
    if not allows_rounding(captured.module):
        return None
    return lambda arrays: coarse(captured, arrays)


def _require_reference(captured: Captured) -> None:
    needed = bytes_of_reference(captured)
    require_memory(needed, "computing the expected results", "use smaller shapes")


def check_reference_memory(text: str) -> None:
    """
    Raise `TooLargeError` as `captured_program` does, before the inputs of an expression are drawn.

    Programs with small inputs and mistakes in the text are not checked here.
    """
    captured = None
    with redirect_stderr(StringIO()), warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        fake = parse_expression(text, fake=True)
        if _bytes_of((fake.args, fake.kwargs)) < _LARGE:
            return
        captured = capture(fake.module, fake.args, fake.kwargs)
    if captured is not None:
        _require_reference(captured)


def _bytes_of(given: object) -> int:
    """Return the total bytes of all tensors in `given`."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(given)
    return sum(t.numel() * t.element_size() for t in leaves if isinstance(t, torch.Tensor))


def _values(input: Input) -> Array:
    if input.tensor.is_meta:
        raise UsageError(f"the input '{input.name}' is on the device meta: it has no values")
    return array_of(input.tensor)


def module_program(module: ModuleOp, against: ModuleOp | None) -> Program:
    """
    Return the program of a file of IR. A single kernel without a host function gets one.

    CUDA IR has no interpreter: its results are compared with those of `against`, or not at all.
    """
    for given in (module, against):
        _check_ranks(given)
    module = with_main(module)
    against = None if against is None else with_main(against)
    if level_of(module) is not Level.CUDA or not _has_kernels(module):
        return replace(interpreted_program(module, against), coarse=_coarse_of(module))
    if against is None:
        return unjudged_program(module)
    judged = interpreted_program(against, against)
    return replace(judged, module=module)


def _coarse_of(module: ModuleOp) -> Function | None:
    """
    Return the function that interprets a module with rounded factors. Above Loop IR, the module is
    lowered first, which makes roundings to bfloat16 explicit.
    """
    is_above = level_of(module) in (Level.TORCH, Level.TENSOR)
    return interpreted_coarse(lower(module, Level.LOOP) if is_above else module)


def _check_ranks(module: ModuleOp | None) -> None:
    """Raise `UnsupportedError` if a value has more dims than the interpreters' arrays can have."""
    values = [] if module is None else [v for op in module.walk() for v in _values_of(op)]
    for value in values:
        if isinstance(value.type, ShapedType) and value.type.get_num_dims() > MAX_RANK:
            dims = value.type.get_num_dims()
            says = f"a value of {dims} dims cannot be interpreted: at most {MAX_RANK} can"
            raise UnsupportedError(says)


def _values_of(op: Operation) -> list[SSAValue]:
    return [*op.results, *(arg for region in op.regions for b in region.blocks for arg in b.args)]


def unjudged_program(module: ModuleOp, inputs: Sequence[Array] | None = None) -> Program:
    """Return a program whose results are not compared with anything."""
    return Program(module, None, _unknown, _unknown, "interpreter", inputs)


def _unknown(*_: Any) -> list[Array]:
    raise AssertionError("this program has no expected results")


def _has_kernels(module: ModuleOp) -> bool:
    return any(op.name == "cuda.func" for op in module.ops)


def stored_inputs(path: str, names: Sequence[str]) -> list[Array]:
    """Return the arrays called `names` in a safetensors file."""
    stored = _stored(path)
    if missing := [name for name in names if name not in stored]:
        has = ", ".join(sorted(stored)) or "nothing"
        raise UsageError(f"'{path}' has no input called {', '.join(missing)}", remedy=f"has: {has}")
    if extra := sorted(set(stored) - set(names)):
        inputs = ", ".join(names) or "no inputs"
        raise UsageError(f"'{path}' has {', '.join(extra)}, but the program takes {inputs}")
    return [stored[name] for name in names]


def _stored(path: str) -> dict[str, Array]:
    """
    Return all arrays of a safetensors file. PyTorch reads it, because NumPy's reader has no
    bfloat16.
    """
    from safetensors import SafetensorError, torch

    try:
        stored: dict[str, Any] = torch.load_file(path)  # pyright: ignore[reportUnknownMemberType]
        return {name: array_of(tensor) for name, tensor in stored.items()}
    except (OSError, SafetensorError) as err:
        raise UsageError(f"cannot read '{path}': {err}") from err
    except (KeyError, TypeError) as err:
        raise UsageError(f"cannot read '{path}': NumPy does not support its dtype: {err}") from err
