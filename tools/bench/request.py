# SPDX-License-Identifier: Apache-2.0
"""
What is asked of the process that measures: a case of a suite or a decoder block, as JSON.

    {"case": {"name": "relu", ...}, "left_out": {...}}
    {"block": {"name": "block.tinyllama.s32", ...}, "left_out": {...}}
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tilewright.tools.bench.block_case import BlockCase
from tilewright.tools.bench.suite import Case

AnyCase = Case | BlockCase
"""What has a name, an operation, an expression and shapes, and is a program."""


def request_of(case: AnyCase, left_out: Mapping[str, str]) -> dict[str, Any]:
    """Return a case, and who does not take part in it, with the reason."""
    kind = "case" if isinstance(case, Case) else "block"
    return {kind: asdict(case), "left_out": left_out}


def case_of(request: Mapping[str, Any]) -> AnyCase:
    """Return the case of such a request, which JSON has made lists of tuples in."""
    if "block" in request:
        return BlockCase(**request["block"])
    case = Case(**request["case"])
    return replace(case, shapes=tuple(tuple(shape) for shape in case.shapes))
