# SPDX-License-Identifier: Apache-2.0
"""
Mutation tests of the simulator: correct kernels, and the bugs that can be planted in them.

A *case* is a kernel's source with its launch, arguments and expected results. A *mutant* is one
change of the source, with the finding that the simulator must report. The unchanged case must be
right and without findings. Cases are TOML files beside the kernels; see
`test/codegen/simulator/kernels/`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator.arguments import Argument
from tilewright.codegen.simulator.findings import SimulationTooLarge
from tilewright.codegen.simulator.simulator import Report, simulate
from tilewright.codegen.simulator.tensor_map import TensorMap
from tilewright.errors import UsageError, summary_of

WRONG = "wrong"
"""Finding for a mutant whose results are wrong, but which is not reported otherwise."""
ENDLESS = "endless"
"""Finding for a mutant that exceeds `BUDGET` thread-instructions."""
BUDGET = 20_000_000

_UNWRITTEN = np.uint32(0x7FC0FEED)
"""Initial value of outputs: a NaN that no computation produces."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Mutant:
    """
    Mutant: `old` is replaced by `new` at its first occurrence, at occurrence `which` counted from
    0, or everywhere.
    """

    what: str
    old: str
    new: str
    finds: str
    """Expected finding: a kind of the simulator, `wrong` or `endless`."""
    which: int = 0
    everywhere: bool = False
    quick: bool = False
    """True if the mutant is part of the quick selection."""

    def planted(self, source: str) -> str:
        parts = source.split(self.old)
        if len(parts) < self.which + 2:
            raise UsageError(f"the mutant '{self.what}' does not fit its kernel")
        if self.everywhere:
            return source.replace(self.old, self.new)
        before, after = parts[: self.which + 1], parts[self.which + 1 :]
        return self.old.join(before) + self.new + self.old.join(after)


@dataclass(frozen=True)
class Case:
    """
    Kernel with its launch, arguments and expected results.

    `arguments` are tables with one of these keys: `input` (a shape of normal random numbers),
    `output`, `scratch` (a shape, filled with `fill`, else unwritten), `value`, or `tensor_map` (a
    shape, with `box` and `swizzle`). `reference` is a NumPy expression of the inputs in float64, by
    name.
    """

    name: str
    source: str
    kernel: str
    grid: int
    block: int
    shared_bytes: int
    target: str
    arguments: tuple[Mapping[str, Any], ...]
    reference: str
    tolerance: float
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True)
class Outcome:
    """Findings of a run: kinds of the simulator, `wrong` or `endless`; empty if all is right."""

    found: frozenset[str]
    report: Report | None
    error: float
    """Largest difference from the reference."""


def load_case(path: Path) -> Case:
    """
    Return the case in `NAME.toml` and `NAME.cu`. Raises `UsageError` with the file's name if it is
    malformed.
    """
    try:
        return _case(path, tomllib.loads(path.read_text()))
    except OSError as err:
        raise UsageError(f"cannot read '{err.filename}': {err.strerror}") from err
    except KeyError as err:
        raise UsageError(f"it lacks {err}", where=str(path)) from err
    except (ValueError, TypeError) as err:
        raise UsageError(f"it is not a case: {err}", where=str(path)) from err


def _case(path: Path, table: Mapping[str, Any]) -> Case:
    return Case(
        name=path.stem,
        source=path.with_suffix(".cu").read_text(),
        kernel=_checked(table["kernel"], str),
        grid=_checked(table["grid"], int),
        block=_checked(table["block"], int),
        shared_bytes=_checked(table.get("shared_bytes", 0), int),
        target=_checked(table.get("target", nvrtc.DEFAULT_TARGET), str),
        arguments=tuple(map(_argument, table["argument"])),
        reference=_checked(table["reference"], str),
        tolerance=_checked(table.get("tolerance", 1e-5), float),
        mutants=tuple(_mutant(mutant) for mutant in table["mutant"]),
    )


def _argument(table: Any) -> Mapping[str, Any]:
    return _checked(table, dict)


def _mutant(table: Any) -> Mutant:
    fields: dict[str, Any] = _checked(table, dict)
    mutant = Mutant(**fields)
    for text in (mutant.what, mutant.old, mutant.new, mutant.finds):
        _checked(text, str)
    if not mutant.old:
        raise ValueError(f"the mutant '{mutant.what}' replaces nothing")
    if not 0 <= _checked(mutant.which, int):
        raise ValueError(f"the mutant '{mutant.what}' counts from 0, not from {mutant.which}")
    return mutant


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise TypeError(f"unexpected {value!r}")
    return value


def run_case(case: Case, mutant: Mutant | None = None) -> Outcome:
    """
    Run a case, or a mutant of it, on the simulator, and return the findings. Raises
    `CudaCompileError` if it does not compile.
    """
    source = case.source if mutant is None else mutant.planted(case.source)
    ptx = nvrtc.compile(source, case.target, name=f"{case.name}.cu").ptx
    try:
        arrays, arguments, read_only = _arguments(case)
    except (TypeError, ValueError, MemoryError) as err:
        raise UsageError(f"{case.name}: the arguments cannot be created: {err}") from err
    try:
        report = simulate(
            ptx,
            case.kernel,
            grid=case.grid,
            block=case.block,
            shared_bytes=case.shared_bytes,
            arguments=arguments,
            read_only=read_only,
            budget=BUDGET,
        )
    except SimulationTooLarge:
        return Outcome(frozenset({ENDLESS}), None, np.inf)
    error = _error(case, arrays)
    found = {str(finding.kind) for finding in report.errors}
    if not error <= case.tolerance:
        found.add(WRONG)
    return Outcome(frozenset(found), report, error)


def _arguments(case: Case) -> tuple[Arrays, list[Argument], list[int]]:
    """
    Return the arrays by name, the kernel's arguments, and the indices of arguments that are only
    read.
    """
    random = np.random.default_rng(0)
    arrays: Arrays = {}
    passed: list[Argument] = []
    read_only: list[int] = []
    for number, table in enumerate(case.arguments):
        match table:
            case {"name": name, "input": shape}:
                arrays[name] = _normal(random, shape)
                read_only.append(number)
                passed.append(arrays[name])
            case {"name": name, "output": shape} | {"name": name, "scratch": shape}:
                dtype = np.dtype(table.get("dtype", "float32"))
                poison = np.full(shape, _UNWRITTEN).view(dtype)
                arrays[name] = np.full(shape, table["fill"], dtype) if "fill" in table else poison
                passed.append(arrays[name])
            case {"name": name, "tensor_map": shape, "box": box}:
                arrays[name] = _normal(random, shape)
                swizzle = table.get("swizzle", 0)
                passed.append(TensorMap(arrays[name], tuple(box), swizzle=swizzle))
            case {"value": value}:
                passed.append(value)
            case _:
                raise UsageError(f"{case.name}: cannot understand the argument {dict(table)}")
    return arrays, passed, read_only


def _normal(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return random.standard_normal(tuple(shape)).astype(np.float32)


def _error(case: Case, arrays: Arrays) -> float:
    """Return the largest difference from the reference; infinite if an element was not written."""
    outputs = [table["name"] for table in case.arguments if "output" in table]
    if len(outputs) != 1:
        raise UsageError(f"{case.name}: it has {len(outputs)} outputs, and should have one")
    (output,) = outputs
    names = {name: array.astype(np.float64) for name, array in arrays.items() if name != output}
    try:
        expected = eval(case.reference, {"np": np, **names})  # executed as code, like `-c`
        difference = np.abs(arrays[output] - np.asarray(expected, np.float64))
    except Exception as err:  # the expression may raise any error
        raise UsageError(f"{case.name}: its reference: {summary_of(err)}") from err
    return float(np.where(np.isnan(difference), np.inf, difference).max())
