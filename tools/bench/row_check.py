# SPDX-License-Identifier: Apache-2.0
"""Check of the rows of a results file, before anything is computed from them."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

from tilewright.tools.bench.row import Row
from tilewright.tools.bench.summary import AGAINST

_TEXTS = ("name", "op", "expression", "problem")
_RATIOS = ("eager_us", "compile_us", *AGAINST)
_FIGURES = ("roofline", "floor_us", "tflops", "tbytes")
"""Names of the fields whose numbers may be 0, for example for a case without arithmetic."""

_LAUNCH_FIGURES = ("us", "share", "floor_us", "roofline")


def wrong_field(row: object) -> str:
    """
    Return the name of the first field of a row that is missing or has a wrong type; empty if the
    row is right.
    """
    if not isinstance(row, dict):
        return "a row"
    fields = cast(Row, row)
    found = {
        **{name: isinstance(fields.get(name), str) for name in _TEXTS},
        **{name: name in fields and _is_ratio(fields[name]) for name in _RATIOS},
        **{name: name in fields and _is_figure(fields[name]) for name in _FIGURES},
        "us": _is_number(fields.get("us")) or (bool(fields.get("problem")) and _lacks_time(fields)),
        "why": _are_texts(fields.get("why")),
        "launches": _are_launches(fields.get("launches")),
    }
    return next((name for name, is_right in found.items() if not is_right), "")


def _lacks_time(fields: Mapping[str, Any]) -> bool:
    return "us" in fields and fields["us"] is None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1 << 63 and isfinite(value) and value > 0


def _is_ratio(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_figure(value: Any) -> bool:
    return _is_ratio(value) or (type(value) in (int, float) and value == 0)


def _are_texts(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(cast(dict[str, Any], value).get(against), str) for against in AGAINST)


def _are_launches(value: Any) -> bool:
    """True if the value is None or a list of valid rows of launches."""
    if value is None:
        return True
    return isinstance(value, list) and all(map(_is_launch, cast(list[Any], value)))


def _is_launch(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast(dict[str, Any], value)
    figures = all(_is_number(fields.get(name)) for name in _LAUNCH_FIGURES)
    return figures and isinstance(fields.get("kernel"), str) and {"grid", "block"} <= {*fields}
