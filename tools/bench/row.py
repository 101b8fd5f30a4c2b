# SPDX-License-Identifier: Apache-2.0
"""
Row of results for a contest: one JSON object, with only those ratios that the samples support.
"""

from collections.abc import Mapping
from typing import Any

from tilewright.codegen.timing.verdict import Result, best, verdict
from tilewright.tools.bench.contest import Outcome
from tilewright.tools.bench.contestants import EAGER, OURS
from tilewright.tools.bench.request import AnyCase

Row = dict[str, Any]
"""Case with its results, as a JSON object; `docs/benchmarking.md` describes its fields."""

NOT_MEASURED = Result(None)
SCHEMA = 1
"""Version of the JSON's schema."""


def head(case: AnyCase) -> Row:
    """Return the fields that identify a case."""
    shapes = [list(shape) for shape in case.shapes]
    return {"name": case.name, "op": case.op, "expression": case.expression, "shapes": shapes}


def failed(case: AnyCase, problem: str) -> Row:
    """Return the row of a case that failed, with the problem and without times."""
    return head(case) | {**_EMPTY, "problem": problem}


def measured(outcome: Outcome) -> Row:
    """Return the row with all figures of a contest, and the ratios that are certain."""
    ours = outcome.results[OURS]
    peers = {name: result for name, result in outcome.results.items() if name != OURS}
    eager = peers.pop(EAGER, NOT_MEASURED)
    mode = best(peers)
    compiled = _joined(peers) if mode is None else peers[mode]
    floor = outcome.floor_us
    us = _us(ours)
    tflops, tbytes = (None, None) if us is None else outcome.work.rates(us)
    to_eager, to_compiled = verdict(ours, eager), verdict(ours, compiled)
    return {
        "us": us,
        "eager_us": _us(eager),
        "compile_us": _us(compiled),
        "vs_eager": to_eager.ratio,
        "vs_compile": to_compiled.ratio,
        "roofline": None if us is None else floor / us,
        "floor_us": floor,
        "tflops": tflops,
        "tbytes": tbytes,
        "compile_mode": mode,
        "why": {"vs_eager": to_eager.reason, "vs_compile": to_compiled.reason},
        "problem": ours.reason_against,
        "copies": outcome.copies,
        "state": outcome.state,
        "flops": outcome.work.flops,
        "bytes": outcome.work.bytes,
        "contestants": {
            name: {**_result(result), "float32": outcome.settings.get(name, {})}
            for name, result in outcome.results.items()
        },
    }


_EMPTY: Row = {
    **dict.fromkeys(("us", "eager_us", "compile_us", "vs_eager", "vs_compile", "roofline")),
    **dict.fromkeys(("floor_us", "tflops", "tbytes", "compile_mode")),
    "why": {"vs_eager": "", "vs_compile": ""},
    "contestants": {},
}


def _us(result: Result) -> float | None:
    """Return the time in microseconds of a result that is valid; None for any other result."""
    return None if result.counted is None else result.counted.us


def _joined(peers: Mapping[str, Result]) -> Result:
    """
    Return one result without a time that joins the reasons of several contestants, which all
    failed.
    """
    if not peers:
        return NOT_MEASURED
    return Result(None, "; ".join(f"{name}: {r.reason_against}" for name, r in peers.items()))


def _result(result: Result) -> Row:
    time = {} if result.timing is None else result.timing._asdict()
    return {**time, "least_us": result.least_us, "problem": result.reason_against}
