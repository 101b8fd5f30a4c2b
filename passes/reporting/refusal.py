# SPDX-License-Identifier: Apache-2.0
"""Errors of passes at an operation, printed as `FILE:LINE:COL: error: REASON`."""

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects.origin import place_of


class PlacedPassError(PassFailedException):
    """Error of a pass that cannot do its work; `where` is `FILE:LINE:COL`, or empty if unknown."""

    def __init__(self, reason: str, where: str = ""):
        self.reason, self.where = reason, where
        super().__init__(reason, where)

    def __str__(self) -> str:
        return f"{self.where}: error: {self.reason}" if self.where else f"error: {self.reason}"


def refused(op: Operation, reason: str) -> PlacedPassError:
    """Return the error for an operation that a pass cannot handle, for the caller to raise."""
    return PlacedPassError(reason, place_of(op))
