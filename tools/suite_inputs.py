# SPDX-License-Identifier: Apache-2.0
"""
The inputs of a suite's case that are not random, as data:

    "inputs": {"t3": {"full": -1e9, "triu": 1}}

The tensor t3 is filled with a number, and is 0 below the diagonal that `triu` names, or above that
of `tril` (`torch.triu`, `torch.tril`). Its shape is that of `input_shapes`. Inputs that are not
named are `torch.randn`.

Suites of old say the same in `input_notes`, in words: those of `_RANDOM`, or a text of the form
`t3 = torch.full((S,S), -1e9).triu(1)`. Nothing of it is run.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, cast

from tilewright.errors import UsageError

Special = Mapping[str, Mapping[str, float]]
"""For each input that is not random what it is made of, as JSON has it."""

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


def statement(name: str, shape: tuple[int, ...], made: Mapping[str, float], more: str = "") -> str:
    """Return the statement that makes a special input, as `-c` takes it, with `more` arguments."""
    cut = "".join(f".{part}({made[part]})" for part in ("triu", "tril") if part in made)
    return f"{name} = torch.full({[*shape]}, {made['full']!r}{more}){cut}"


def special_tensor(shape: tuple[int, ...], made: Mapping[str, float], device: str) -> Any:
    """Return a special input."""
    import torch

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
        if not _is_fill(made):
            raise UsageError(f"its input {name} is no tensor: {made!r}", remedy=_EXAMPLE)
    return inputs


def _is_fill(made: Any) -> bool:
    """True for `full` and at most one of `triu` and `tril`."""
    if not isinstance(made, dict):
        return False
    fields = cast(dict[str, Any], made)
    value = fields.get("full")
    cuts = {part: each for part, each in fields.items() if part != "full"}
    is_number = type(value) in (int, float) and isfinite(cast(float, value))
    is_cut = all(part in ("triu", "tril") and type(k) is int for part, k in cuts.items())
    return is_number and is_cut and len(cuts) <= 1 and all(abs(k) < 1 << 31 for k in cuts.values())
