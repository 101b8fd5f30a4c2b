# SPDX-License-Identifier: Apache-2.0
"""
The inputs of a suite's case that are not `torch.randn`, as data:

    "inputs": {"t1": {"random": "uniform"}, "t2": {"integers": [0, 9]}, "t3": {"full": -1e9}}

The tensor t1 is drawn by `torch.rand`; t2 by `torch.randint` from 0 to 8, as int64, or as the
`dtype` that stands beside; t3 is filled with a number. What is filled may be cut: it is 0 below the
diagonal that `triu` names, or above that of `tril` (`torch.triu`, `torch.tril`). Shapes are those
of `input_shapes`.

Suites of old say the same in `input_notes`, in words: those of `_RANDOM`, or a text of the form
`t3 = torch.full((S,S), -1e9).triu(1)`. Nothing of it is run.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, cast

from tilewright.errors import UsageError

Made = Mapping[str, Any]
"""What an input is made of, as JSON has it."""
Special = Mapping[str, Made]
"""By input; those that are not named are `torch.randn`."""

_UNIFORM = "uniform"
_INTEGERS = ("int64", "int32", "bool")
_BOUND = 1 << 31

_RANDOM = "all inputs torch.randn"

_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_NOTE = re.compile(
    rf"(t\d+) = torch\.full\(\(((?:S|\d+)(?:, ?(?:S|\d+))*),?\), ?({_NUMBER})\)"
    r"(?:\.(triu|tril)\((-?\d+)\))?"
)

_EXAMPLE = '"inputs": {"t3": {"full": -1e9, "triu": 1}} fills t3, and all others are random'


def special_inputs(entry: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> Special:
    """Return what a case says of its inputs, which have these shapes. Raises `UsageError`."""
    if "inputs" in entry:
        return _checked(entry["inputs"], len(shapes))
    notes = entry.get("input_notes", _RANDOM)
    if notes == _RANDOM:
        return {}
    found = _NOTE.fullmatch(notes) if isinstance(notes, str) else None
    if found is None:
        raise UsageError(f"its input_notes are no data: {notes!r}", remedy=_EXAMPLE)
    name, sizes, value, part, diagonal = found.groups()
    cut = {} if part is None else {part: int(diagonal)}
    special = _checked({name: {"full": float(value), **cut}}, len(shapes))
    noted = [entry["seq_len"] if size == "S" else int(size) for size in re.split(", ?", sizes)]
    if noted != [*shapes[int(name[1:])]]:
        raise UsageError(f"its input {name} has another shape in input_notes: {noted}")
    return special


def is_integer(made: Made) -> bool:
    """True for an input that keeps its dtype, whatever that of the case is."""
    return "integers" in made


def statement(name: str, shape: tuple[int, ...], made: Made, more: str = "") -> str:
    """
    Return the statement that makes a special input, as `-c` takes it, with `more` arguments where
    it is of the case's dtype.
    """
    if is_integer(made):
        low, high = made["integers"]
        dtype = f"dtype=torch.{made.get('dtype', 'int64')}"
        if dtype.endswith("bool"):
            return f"{name} = torch.randint({low}, {high}, {[*shape]}).bool()"
        return f"{name} = torch.randint({low}, {high}, {[*shape]}, {dtype})"
    if "random" in made:
        return f"{name} = torch.rand({[*shape]}{more})"
    cut = "".join(f".{part}({made[part]})" for part in ("triu", "tril") if part in made)
    return f"{name} = torch.full({[*shape]}, {made['full']!r}{more}){cut}"


def special_tensor(shape: tuple[int, ...], made: Made, device: str, generator: Any) -> Any:
    """Return a special input, drawn by a generator where it is random."""
    import torch

    if is_integer(made):
        low, high = made["integers"]
        drawn = torch.randint(low, high, shape, generator=generator, device=device)
        return drawn.to(getattr(torch, made.get("dtype", "int64")))
    if "random" in made:
        return torch.rand(shape, generator=generator, device=device)
    tensor = torch.full(shape, float(made["full"]), device=device)
    for part in ("triu", "tril"):
        if part in made:
            tensor = getattr(tensor, part)(int(made[part]))
    return tensor


def _checked(said: Any, count: int) -> Special:
    names = [f"t{number}" for number in range(count)]
    if not isinstance(said, dict):
        raise UsageError(f"its inputs are no object: {said!r}", remedy=_EXAMPLE)
    inputs = cast(dict[str, Any], said)
    if unknown := [name for name in inputs if name not in names]:
        raise UsageError(f"it has no input {', '.join(unknown)}", remedy=f"has: {', '.join(names)}")
    for name, made in inputs.items():
        if not (_is_fill(made) or _is_uniform(made) or _are_integers(made)):
            raise UsageError(f"its input {name} is no tensor: {made!r}", remedy=_EXAMPLE)
    return inputs


def _is_uniform(made: Any) -> bool:
    return made == {"random": _UNIFORM}


def _are_integers(made: Any) -> bool:
    """True for two bounds of which the second is the larger, and a dtype at most."""
    if not isinstance(made, dict):
        return False
    fields = cast(dict[str, Any], made)
    bounds, rest = fields.get("integers"), {*fields} - {"integers", "dtype"}
    if rest or fields.get("dtype", "int64") not in _INTEGERS or not isinstance(bounds, list):
        return False
    given = cast(list[Any], bounds)
    are_bounds = len(given) == 2 and all(type(b) is int and abs(b) < _BOUND for b in given)
    return are_bounds and given[0] < given[1]


def _is_fill(made: Any) -> bool:
    """True for `full` and at most one of `triu` and `tril`."""
    if not isinstance(made, dict):
        return False
    fields = cast(dict[str, Any], made)
    value = fields.get("full")
    cuts = {part: each for part, each in fields.items() if part != "full"}
    is_number = type(value) in (int, float) and isfinite(cast(float, value))
    is_cut = all(part in ("triu", "tril") and type(k) is int for part, k in cuts.items())
    return is_number and is_cut and len(cuts) <= 1 and all(abs(k) < _BOUND for k in cuts.values())
