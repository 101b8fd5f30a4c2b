# SPDX-License-Identifier: Apache-2.0
"""
Check that a checkpoint fits a model: one error lists all problems, before any value is read.

    the checkpoint in 'tiny' does not fit the model:
      missing:
        lm_head.weight
      with another shape:
        model.layers.{0-1}.mlp.up_proj.weight: 64x32, should be 128x64
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.models.checkpoint import TensorKind
from tilewright.models.many_names import folded, listed

_FLOATS = ("float64", "float32", "float16", "bfloat16")
"""Dtypes that may be converted to one another."""


def check_fit(
    folder: Path,
    stored: Mapping[str, TensorKind],
    expected: Mapping[str, TensorKind],
    *,
    lacking: Iterable[str],
    extra: Iterable[str],
    converts: bool,
) -> None:
    """
    Raise `UsageError` unless each `stored` tensor has the shape and dtype of the `expected` tensor
    of that name.

    `lacking` are the names that only the model has, `extra` the names that only the checkpoint has;
    any is an error. With `converts`, floating dtypes may differ.
    """
    pairs = {name: (stored[name], kind) for name, kind in expected.items() if name in stored}
    dtypes = [*_other_dtypes(pairs, converts)]
    groups = {
        "missing": folded(lacking),
        "not in the model": folded(extra),
        "with another shape": [*_other_shapes(pairs)],
        "with another dtype": dtypes,
    }
    if not any(groups.values()):
        return
    problems = "".join(
        f"\n  {what}:{listed(lines, '    ')}" for what, lines in groups.items() if lines
    )
    is_remedied = len([*_other_dtypes(pairs, converts=True)]) < len(dtypes)
    remedy = "--dtype DTYPE converts all weights to that dtype" if is_remedied else ""
    message = f"the checkpoint in '{folder}' does not fit the model:{problems}"
    raise UsageError(message, remedy=remedy)


_Pairs = Mapping[str, tuple[TensorKind, TensorKind]]
"""Stored kind and expected kind of each tensor that has both, by name."""


def _other_shapes(pairs: _Pairs) -> Iterator[str]:
    notes = {
        name: f"{_shape(stored)}, should be {_shape(expected)}"
        for name, (stored, expected) in pairs.items()
        if stored.shape != expected.shape
    }
    return _noted(notes)


def _other_dtypes(pairs: _Pairs, converts: bool) -> Iterator[str]:
    allowed = _FLOATS if converts else ()
    notes = {
        name: f"{stored.dtype}, should be {expected.dtype}"
        for name, (stored, expected) in pairs.items()
        if stored.dtype != expected.dtype
        and not (stored.dtype in allowed and expected.dtype in allowed)
    }
    return _noted(notes)


def _noted(notes: Mapping[str, str]) -> Iterator[str]:
    """
    Yield a line `NAME: NOTE` for each name; names that differ only in the number of a layer, and
    have equal notes, share a line.
    """
    for note in dict.fromkeys(notes.values()):
        names = folded(name for name in notes if notes[name] == note)
        yield from (f"{name}: {note}" for name in names)


def _shape(kind: TensorKind) -> str:
    return "x".join(map(str, kind.shape)) or "a number"
