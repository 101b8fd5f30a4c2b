# SPDX-License-Identifier: Apache-2.0
"""Ops with several lists of operands equal those that xDSL builds from the same definitions."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType, f32
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl.operations import BaseAttrAccessor

from tilewright.dialects import get_all_dialects
from tilewright.dialects.faster_xdsl.segments import SegmentedOp
from tilewright.dialects.loop import LoadOp

OUTSIDE = test.TestOp(result_types=[MemRefType(f32, [8, 8]), IndexType(), IndexType()])
D0, D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)

SEGMENTED = [
    op
    for dialect in get_all_dialects().values()
    for op in dialect().operations
    if issubclass(op, SegmentedOp)
]


def load() -> LoadOp:
    """Return a load with a mask."""
    memref, i, j = OUTSIDE.results
    return LoadOp(memref, ([D0, D1], [i, j]), ([5 - D0], [j]))


def test_xdsl_builds_the_same():
    op, (memref, i, j) = load(), OUTSIDE.results
    properties = {
        "map": AffineMapAttr(AffineMap(2, 0, (D0, D1))),
        "mask": AffineMapAttr(AffineMap(1, 0, (5 - D0,))),
    }
    built = LoadOp.build(operands=[memref, [i, j], [j]], properties=properties, result_types=[f32])
    assert op.properties == built.properties
    assert list(op.operands) == list(built.operands)
    op.verify()


def test_operands_are_found_by_name():
    op, (memref, i, j) = load(), OUTSIDE.results
    for each in (op, op.clone()):
        assert each.memref is memref
        assert list(each.indices) == [i, j]
        assert list(each.mask_operands) == [j]


def test_operands_are_not_set_by_name():
    with pytest.raises(NotImplementedError, match="replaced through `operands`"):
        setattr(load(), "memref", OUTSIDE.results[0])


@pytest.mark.parametrize("op", SEGMENTED, ids=lambda op: op.name)
def test_all_are_decorated(op: type[Operation]):
    assert not [name for name, value in vars(op).items() if isinstance(value, BaseAttrAccessor)]
