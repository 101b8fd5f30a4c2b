# SPDX-License-Identifier: Apache-2.0
"""
What an op computes, as a key: equal for ops that differ in names and places alone.

Keys are compared where their hashes agree, as a dictionary does, so a collision merges nothing.
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
Ops whose two operands may change places, exactly. Floats' maximum is none of them: of 0.0 and -0.0
the hardware may take the one that comes first.
"""


def structure(op: Operation) -> Hashable:
    """Return the key of `op`; a value that it uses from outside stands for itself."""
    return _op_key(op, {})


def body_structure(region: Region) -> Hashable:
    """Return the key of a body that uses nothing from outside, such as that of a kernel."""
    return _region_key(region, {})


def _op_key(op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
    operands: Hashable = tuple([numbers.get(value, value) for value in op.operands])
    if type(op) in COMMUTATIVE:
        operands = frozenset(operands)  # of two: one for both, if they are the same
    return (
        op.name,
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        operands,
        # a conversion says its type here alone
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
