# SPDX-License-Identifier: Apache-2.0
"""
Structural keys of ops: equal for ops that differ only in value names and locations.

Use the key itself, not its hash, to compare: a hash collision must not merge different ops.
"""

from collections.abc import Hashable, Iterable

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, Region, SSAValue

COMMUTATIVE = (
    arith.AddfOp,
    arith.MulfOp,
    arith.AddiOp,
    arith.MuliOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
)
"""
Ops whose result is identical to the bit if their two operands are swapped.

The maximum of floats is not one: of 0.0 and -0.0 the hardware may return the first operand.
"""


def structure(op: Operation) -> Hashable:
    """Return the structural key of `op`; a value from outside the op is its own key."""
    return _op_key(op, {})


def body_structure(region: Region) -> Hashable:
    """Return the structural key of a body that uses no values from outside, such as a kernel's."""
    return _region_key(region, {})


def _op_key(op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
    operands: Hashable = tuple([numbers.get(value, value) for value in op.operands])
    if type(op) in COMMUTATIVE:
        operands = frozenset(operands)  # unordered; two equal operands become one element
    return (
        op.name,
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        operands,
        # only the result type distinguishes conversions
        tuple([result.type for result in op.results]),
        tuple([_region_key(region, numbers) for region in op.regions]),
    )


def _region_key(region: Region, numbers: dict[SSAValue, int]) -> Hashable:
    return tuple(_block_key(block, numbers) for block in region.blocks)


def _block_key(block: Block, numbers: dict[SSAValue, int]) -> Hashable:
    _number(block.args, numbers)
    ops: list[Hashable] = []
    for op in block.ops:
        ops.append(_op_key(op, numbers))
        _number(op.results, numbers)
    return block.arg_types, tuple(ops)


def _number(values: Iterable[SSAValue], numbers: dict[SSAValue, int]) -> None:
    for value in values:
        numbers[value] = len(numbers)
