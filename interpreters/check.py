# SPDX-License-Identifier: Apache-2.0
"""
Check of a pass: the program runs before and after it on the same random inputs.

Both runs compute in float64. A legal change, as another order of a sum, then moves a result by
about 1e-16 times the number of terms. The effect of a mistake is much larger.

PyTorch's numbers become constants of the program's own types when Torch IR is lowered: 1e300
becomes infinite in float32, and 1 - eps is rounded. There, an element is also right if it equals
PyTorch's result in the program's own types.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp, LaunchOp
from tilewright.dialects.origin import place_of
from tilewright.dialects.parameter_layout import given_types
from tilewright.dialects.work import scalar_operations
from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.interpreters.arguments import shape_and_element
from tilewright.interpreters.differences import Difference, closest, worst_of
from tilewright.interpreters.errors import TooLargeError, symbol_of
from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.memory import bytes_needed, require_memory
from tilewright.interpreters.random_runs import Draw, RandomRuns
from tilewright.interpreters.types import Array, ElementTypes

TOLERANCE = 1e-9
"""
Allowed error relative to the largest element: float64's 1e-16 times a million terms, with room.
"""

CONSTANT_TOLERANCE = 1e-6
"""
Allowed relative error of a lowering of Torch IR, whose numbers become float32 constants (eps 6e-8).
"""

MAX_WORK = 5 << 28
"""Limit of the scalar operations of a checked program, which take some seconds."""

MAX_BYTES = 1 << 31
"""Limit of the bytes that a checked program may take."""


class PassCheckError(TilewrightError):
    """The error that a pass changed what the program computes."""


@dataclass(frozen=True)
class CheckReport:
    """Symbols of the functions and kernels that were compared, and a note for each that was not."""

    compared: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Programs:
    """The programs before and after a pass, and the inputs that they run with."""

    before: ModuleOp
    after: ModuleOp
    pass_name: str
    seed: int = 0
    runs: RandomRuns = field(default_factory=RandomRuns)

    def results(self, module: ModuleOp, name: str, draw: Draw) -> list[Array]:
        """
        Return the results of `@name` in `before` or `after`. Raises `PassCheckError` if that
        program is wrong itself.
        """
        try:
            return self.runs.results(module, name, draw)
        except (UnsupportedError, TooLargeError):
            raise
        except TilewrightError as err:
            when = "before" if module is self.before else "after"
            message = f"{when} pass '{self.pass_name}' the program is wrong: {err.message}"
            raise PassCheckError(message, where=err.where, remedy=err.remedy) from err

    def types(self, name: str) -> list[Attribute]:
        """
        Return the types of the inputs of `@name`. Raises `PassCheckError` if the pass changed its
        signature.
        """
        types, outputs = _signature(_functions(self.before)[name])
        new_types, new_outputs = _signature(_functions(self.after)[name])
        if [*map(shape_and_element, [*types, *outputs])] != [
            *map(shape_and_element, [*new_types, *new_outputs])
        ]:
            message = f"pass '{self.pass_name}' changed the signature of @{name}"
            raise PassCheckError(message, where=place_of(_functions(self.before)[name]))
        return types


Compare = Callable[[Programs, str], Difference | None]
"""
Function that returns the worst difference between the results of a function before and after a
pass; None if there is none.
"""


def within_tolerance(programs: Programs, name: str) -> Difference | None:
    """Compare the results of `@name` for random floats, which may differ by rounding errors."""
    types, before, after = programs.types(name), programs.before, programs.after
    tolerance = CONSTANT_TOLERANCE if is_torch(before) else TOLERANCE
    for is_positive in (False, True):
        draw = Draw(types, programs.seed, is_positive)
        expected = programs.results(before, name, draw)
        actual = programs.results(after, name, draw)
        found = worst_of(expected, actual, tolerance)
        if found is not None and is_torch(before):
            own = interpret_fitting(before, draw.inputs(widened=False), name, ElementTypes())
            found = worst_of(closest(own, expected, actual), actual, tolerance)
        if found is not None:
            return found
        if not any(np.isnan(result).any() for result in expected):
            break  # with NaN: again with positive inputs, the domain of logarithms and roots
    return None


def check_pass(
    before: ModuleOp,
    after: ModuleOp,
    pass_name: str,
    *,
    runs: RandomRuns | None = None,
    seed: int = 0,
    max_work: int = MAX_WORK,
    compare: Compare = within_tolerance,
) -> CheckReport:
    """
    Compare the results of `@main` before and after a pass on the same random inputs.

    Without `@main`, each function or kernel that no function calls or launches is compared. Raises
    `PassCheckError` if a result or signature differs, or if one of the two programs is wrong
    itself. Functions that cannot run, or need more than `max_work` scalar operations, are named in
    the report's notes. If consecutive checks share `runs`, the output of one pass is not run again
    as the input of the next.
    """
    programs = Programs(before, after, pass_name, seed, runs or RandomRuns())
    programs.runs.begin()
    old, new = _functions(before), _functions(after)
    used = _used_in(before)
    names = ["main"] if "main" in old else [name for name in old if name not in used]
    compared: list[str] = []
    notes: list[str] = []
    for name in names:
        try:
            if (reason := _reason_not_checked(name, old, new, max_work)) is not None:
                notes.append(f"pass '{pass_name}' is not checked at @{name}: {reason}")
                continue
            difference = compare(programs, name)
        except (UnsupportedError, TooLargeError, MemoryError) as err:
            notes.append(f"pass '{pass_name}' is not checked at @{name}: {err}")
            continue
        if difference is not None:
            raise _changed(name, difference, programs, compare)
        compared.append(name)
    return CheckReport(tuple(compared), tuple(notes))


def _functions(module: ModuleOp) -> dict[str, Operation]:
    kinds = (func.FuncOp, KernelOp, FuncOp)
    return {symbol_of(op) or "": op for op in module.ops if isinstance(op, kinds)}


def _used_in(module: ModuleOp) -> set[str]:
    """Return the symbols that the functions of `module` launch or call."""
    used: set[str] = set()
    for op in module.walk():
        if isinstance(op, LaunchOp):
            used.add(op.kernel.string_value())
        if isinstance(op, func.CallOp):
            used.add(op.callee.string_value())
    return used


def _reason_not_checked(
    name: str, old: dict[str, Operation], new: dict[str, Operation], max_work: int
) -> str | None:
    """Reason why a function is not interpreted before and after a pass, or None."""
    if name not in new:
        return "the pass removed it"
    needed = max(bytes_needed(each[name], ElementTypes(np.float64)) for each in (old, new))
    if needed > MAX_BYTES:
        return f"about {needed / 2**30:.1f} GiB of memory are too much; use smaller shapes"
    require_memory(needed, f"interpreting @{name}", "use smaller shapes")
    work = max(scalar_operations(old[name]), scalar_operations(new[name]))
    if work > max_work:
        return f"about {work:.1e} scalar operations are too many; use smaller shapes"
    return None


def _signature(op: Operation) -> tuple[list[Attribute], list[Attribute]]:
    """Return the types of inputs, as callers pass them, and of outputs."""
    if isinstance(op, func.FuncOp):
        return given_types(op), list(op.function_type.outputs)
    assert isinstance(op, KernelOp | FuncOp)
    return [v.type for v in op.inputs], [v.type for v in op.result_buffers]


def is_torch(module: ModuleOp) -> bool:
    """True if a module contains Torch IR."""
    return any(op.name.startswith("torch.") for op in module.walk())


def _changed(
    name: str, difference: Difference, programs: Programs, compare: Compare
) -> PassCheckError:
    """
    Return the `PassCheckError` for a function `@name` whose results differ.

    If kernels differ when they run alone, the error names the one with the fewest scalar
    operations.
    """
    message = f"pass '{programs.pass_name}' changed what @{name} computes: {difference}"
    old, new = _functions(programs.before), _functions(programs.after)
    where = place_of(old[name])
    kernels = [k for k, op in old.items() if k != name and k in new and type(op) is not func.FuncOp]
    for kernel in sorted(kernels, key=lambda k: scalar_operations(old[k])):
        try:
            alone = compare(replace(programs, runs=RandomRuns()), kernel)
        except TilewrightError:
            continue
        if alone is not None:
            remedy = f"kernel @{kernel} alone shows it: {alone}"
            return PassCheckError(message, where=where, remedy=remedy)
    return PassCheckError(message, where=where)
