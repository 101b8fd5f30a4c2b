# SPDX-License-Identifier: Apache-2.0
"""
Request to the process that measures: a case of a suite or a decoder block, as JSON.

    {"case": {"name": "relu", ...}, "left_out": {...}}
    {"block": {"name": "block.tinyllama.s32", ...}, "left_out": {...}}
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tilewright.tools.bench.block_case import BlockCase
from tilewright.tools.bench.suite import Case

AnyCase = Case | BlockCase
"""Case of either kind: it has a name, an operation, an expression, shapes and a program."""


def request_of(case: AnyCase, left_out: Mapping[str, str]) -> dict[str, Any]:
    """Return the request for a case; `left_out` maps excluded contestants to reasons."""
    kind = "case" if isinstance(case, Case) else "block"
    return {kind: asdict(case), "left_out": left_out}


def case_of(request: Mapping[str, Any]) -> AnyCase:
    """
    Return the case of a request. JSON has turned its tuples into lists, which are converted back.
    """
    if "block" in request:
        return BlockCase(**request["block"])
    case = Case(**request["case"])
    return replace(case, shapes=tuple(tuple(shape) for shape in case.shapes))
