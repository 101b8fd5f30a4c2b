# SPDX-License-Identifier: Apache-2.0
"""
Tables of published times: JSON files of cases with the times that others measured for PyTorch.

    {"cases": [{
        "name": "conv.1", "op": "conv", "expression": "F.conv2d(t0, t1)",
        "input_shapes": [[8, 64, 56, 56], [64, 64, 3, 3]],
        "precision": "high", "published_ms": {"eager": 0.21, "compile": 0.2}
    }]}

A case has the fields of a suite's case, of which those above suffice. All mistakes of a table are
reported together, each with its case.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, cast

from tilewright.dialects.precision import WORDS
from tilewright.errors import UsageError
from tilewright.text_file import read_text_file
from tilewright.tools.bench.row import Row, head
from tilewright.tools.bench.suite import Case, case_of_entry

BACKENDS = ("eager", "compile")
"""Names of published times: eager mode and `torch.compile`."""

_DEFAULTS = {"dtype": "float32", "seq_len": 0, "flops": 0, "min_bytes": 0, "floor_us_h100": 0}
"""Fields of a suite's case that estimates do not need."""

_EXAMPLE = "benchmarks/kernelbench-level1.json is an example"


@dataclass(frozen=True)
class PublishedCase:
    """Case with its published times in milliseconds."""

    case: Case
    eager_ms: float | None
    compile_ms: float | None
    precision: str
    """Precision of float32 products that the times were measured in."""
    left_out: str
    """Reason why ratios of the case do not count, or empty."""

    @property
    def name(self) -> str:
        """Name of the case."""
        return self.case.name

    @property
    def head(self) -> Row:
        """Fields of a row that are known before the estimate."""
        return {
            **head(self.case),
            "dtype": self.case.dtype,
            "inputs": self.case.special,
            "precision": self.precision,
            "left_out": self.left_out,
            "eager_us": _microseconds(self.eager_ms),
            "compile_us": _microseconds(self.compile_ms),
        }


def read_published(path: str | Path) -> list[PublishedCase]:
    """Return the cases of a table. Raises `UsageError` with the mistakes of all cases."""
    try:
        entries = [*json.loads(read_text_file(path))["cases"]]
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise UsageError(f"'{path}' is not a list of cases", remedy=_EXAMPLE) from err
    cases: list[PublishedCase] = []
    mistakes: list[str] = []
    for number, entry in enumerate(entries):
        try:
            cases.append(_published(entry))
        except UsageError as err:
            mistakes.append(_named(err.message, number, entry))
    mistakes += _repeated_names(cases)
    if mistakes:
        raise UsageError(f"'{path}': {'; '.join(mistakes)}", remedy=_EXAMPLE)
    if not cases:
        raise UsageError(f"'{path}' has no cases", remedy=_EXAMPLE)
    return cases


def _published(entry: Any) -> PublishedCase:
    if not isinstance(entry, dict):
        raise UsageError("it is no object")
    fields = cast(dict[str, Any], entry)
    case = _case(fields)
    _ = case.function  # raises an error if the expression does not parse
    times = _times(fields.get("published_ms"))
    precision, left_out = fields.get("precision", WORDS[0]), fields.get("left_out", "")
    if precision not in WORDS:
        raise UsageError(f"its precision is {precision!r}, not one of {', '.join(WORDS)}")
    if not isinstance(left_out, str):
        raise UsageError(f"its left_out is no text: {left_out!r}")
    return PublishedCase(case, times.get("eager"), times.get("compile"), precision, left_out)


def _case(fields: dict[str, Any]) -> Case:
    try:
        return case_of_entry({**_DEFAULTS, **fields})
    except KeyError as err:
        raise UsageError(f"it has no {err}") from err
    except (ValueError, TypeError, AttributeError, OverflowError) as err:
        raise UsageError(f"it is wrong: {err}") from err


def _times(given: Any) -> dict[str, float]:
    if not isinstance(given, dict):
        raise UsageError("it has no 'published_ms'")
    times = cast(dict[str, Any], given)
    if unknown := [name for name in times if name not in BACKENDS]:
        raise UsageError(f"published times are {' and '.join(BACKENDS)}, not {unknown[0]!r}")
    for name, value in times.items():
        if value is not None and not _is_time(value):
            raise UsageError(f"its published time {name} is no positive number: {value!r}")
    known = {name: float(value) for name, value in times.items() if value is not None}
    if not known:
        raise UsageError("its published_ms has no time")
    return known


def _is_time(value: Any) -> bool:
    """True for numbers of milliseconds from a nanosecond to a day."""
    return type(value) in (int, float) and isfinite(value) and 1e-6 <= value <= 86_400_000


def _repeated_names(cases: Sequence[PublishedCase]) -> list[str]:
    names = [case.name for case in cases]
    return [
        f"the name '{name}' is repeated" for name in dict.fromkeys(names) if names.count(name) > 1
    ]


def _named(message: str, number: int, entry: Any) -> str:
    """Return the mistake of a case with the case's number and name."""
    name = cast(dict[str, Any], entry).get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        return f"case {number}: {message}"
    reason = message.removeprefix(f"case '{name}'").removeprefix(":").strip()
    return f"case {number} '{name}': {reason}"


def _microseconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(1e3 * milliseconds, 6)
