# SPDX-License-Identifier: Apache-2.0
"""What one scalar op costs in instructions; special functions are short programs."""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation

_INSTRUCTIONS: dict[type[Operation], int] = {
    arith.ConstantOp: 0,
    arith.DivfOp: 8,
    math.SqrtOp: 8,
    math.RsqrtOp: 4,
    math.ExpOp: 8,
    math.LogOp: 12,
    math.TanhOp: 24,
    math.ErfOp: 24,
    math.PowFOp: 64,
}


_DIALECTS = ("arith.", "math.", "scalar.")
"""Those whose ops compute one value from others."""


def is_computation(op: Operation) -> bool:
    """True if `op` computes a value, rather than load, store, loop or name an index."""
    return op.name.startswith(_DIALECTS)


def instructions(op: Operation) -> int:
    """Instructions of a scalar op; what is not in the table is one."""
    return _INSTRUCTIONS.get(type(op), 1)


def flops(op: Operation) -> int:
    """What `op` computes of floats, by instructions; loads, indices and constants are free."""
    if isinstance(op, math.FmaOp):
        return 2
    if not isinstance(op, arith.ConstantOp) and op.name.startswith(("arith.", "math.")):
        return instructions(op) if isinstance(op.results[0].type, AnyFloat) else 0
    return 0
