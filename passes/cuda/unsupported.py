# SPDX-License-Identifier: Apache-2.0
"""Errors for operations of Kernel IR that CUDA IR cannot express."""

from xdsl.ir import Operation

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.origin import place_of
from tilewright.errors import UnsupportedError


def cannot_lower(kernel: FuncOp, op: Operation, reason: str) -> UnsupportedError:
    """Return the error for an op of a kernel, at its place, to be raised."""
    return UnsupportedError(f"cannot lower @{kernel.sym_name.data}: {reason}", where=place_of(op))
