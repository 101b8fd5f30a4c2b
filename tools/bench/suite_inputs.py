# SPDX-License-Identifier: Apache-2.0
"""
Special inputs of a suite's case, which are not `torch.randn`, as data:

    "inputs": {"t1": {"random": "uniform"}, "t2": {"integers": [0, 9]}, "t3": {"full": -1e9}}

`torch.rand` draws the tensor t1. `torch.randint` draws t2 from 0 to 8, as int64, or in the `dtype`
given beside `integers`. t3 is filled with a number. A filled tensor may be cut: it is 0 below the
diagonal `triu`, or above the diagonal `tril` (`torch.triu`, `torch.tril`). The shapes are those of
`input_shapes`.

Old suites have a text `input_notes` instead: `_RANDOM`, or a text of the form `t3 =
torch.full((S,S), -1e9).triu(1)`. It is parsed, not executed.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, cast

from tilewright.errors import UsageError

Made = Mapping[str, Any]
"""Description of an input, as a JSON object."""
Special = Mapping[str, Made]
"""Descriptions by input name; inputs that are not named are `torch.randn`."""

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
    """
    Return the descriptions of a case's special inputs, checked against the shapes. Raises
    `UsageError` if they are malformed.
    """
    if "inputs" in entry:
        return _checked(entry["inputs"], len(shapes))
    notes = entry.get("input_notes", _RANDOM)
    if notes == _RANDOM:
        return {}
    found = _NOTE.fullmatch(notes) if isinstance(notes, str) else None
    if found is None:
        raise UsageError(f"its input_notes are malformed: {notes!r}", remedy=_EXAMPLE)
    name, sizes, value, part, diagonal = found.groups()
    cut = {} if part is None else {part: int(diagonal)}
    special = _checked({name: {"full": float(value), **cut}}, len(shapes))
    noted = [entry["seq_len"] if size == "S" else int(size) for size in re.split(", ?", sizes)]
    if noted != [*shapes[int(name[1:])]]:
        raise UsageError(f"its input {name} has another shape in input_notes: {noted}")
    return special


def is_integer(made: Made) -> bool:
    """True for an input of integers, which keeps its dtype whatever the dtype of the case is."""
    return "integers" in made


def statement(name: str, shape: tuple[int, ...], made: Made, more: str = "") -> str:
    """
    Return the statement that creates a special input, in the form of `-c`. `more` are additional
    arguments, such as a dtype, for inputs that are not integers.
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
    """Return a special input; random ones are drawn with the generator."""
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


def _checked(given: Any, count: int) -> Special:
    names = [f"t{number}" for number in range(count)]
    if not isinstance(given, dict):
        raise UsageError(f"its inputs are not an object: {given!r}", remedy=_EXAMPLE)
    inputs = cast(dict[str, Any], given)
    if unknown := [name for name in inputs if name not in names]:
        raise UsageError(f"it has no input {', '.join(unknown)}", remedy=f"has: {', '.join(names)}")
    for name, made in inputs.items():
        if not (_is_fill(made) or _is_uniform(made) or _are_integers(made)):
            raise UsageError(f"its input {name} is malformed: {made!r}", remedy=_EXAMPLE)
    return inputs


def _is_uniform(made: Any) -> bool:
    return made == {"random": _UNIFORM}


def _are_integers(made: Any) -> bool:
    """True if the value has two bounds in increasing order and at most a dtype."""
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
    """True if the value has `full` and at most one of `triu` and `tril`."""
    if not isinstance(made, dict):
        return False
    fields = cast(dict[str, Any], made)
    value = fields.get("full")
    cuts = {part: each for part, each in fields.items() if part != "full"}
    is_number = type(value) in (int, float) and isfinite(cast(float, value))
    is_cut = all(part in ("triu", "tril") and type(k) is int for part, k in cuts.items())
    return is_number and is_cut and len(cuts) <= 1 and all(abs(k) < _BOUND for k in cuts.values())
