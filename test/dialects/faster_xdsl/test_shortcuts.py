# SPDX-License-Identifier: Apache-2.0
"""Shortcuts through xDSL return xDSL's results, and cache no outdated values."""

import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    FloatData,
    IntegerAttr,
    MemRefType,
    StringAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.tile.layout import SlabLayoutAttr


def _constant(value: int, type: object = i32) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, i64 if type is i64 else i32))


def test_isinstance_and_issubclass_work_as_before():
    one = _constant(1)
    assert isinstance(one, IRDLOperation | loop.LoadOp)
    assert not isinstance(one, AxesOp)
    assert isinstance(f32, Attribute)
    assert issubclass(loop.ForOp, AxesOp)
    with pytest.raises(TypeError, match="abstract"):
        AxesOp()  # pyright: ignore[reportAbstractUsage]


@pytest.mark.parametrize(
    "make",
    [
        lambda: AffineMap(2, 0, (AffineExpr.dimension(0) * 4 + AffineExpr.dimension(1) // 2,)),
        lambda: MemRefType(f32, [4, 8]),
        lambda: SlabLayoutAttr.get(pad=[0, 4]),
        lambda: StringAttr("a"),
    ],
)
def test_equal_attributes_have_equal_hashes(make: Callable[[], object]):
    one, other = make(), make()
    assert hash(one) == hash(other)
    assert one == other
    assert one in {other}


def test_a_hash_stays_in_its_process():
    command = (
        "import pickle, sys, tilewright.dialects; from xdsl.dialects.builtin import StringAttr; "
        "sys.exit(pickle.loads(sys.stdin.buffer.read()) not in {StringAttr('a')})"
    )
    text = StringAttr("a")
    hash(text)
    subprocess.run([sys.executable, "-c", command], input=pickle.dumps(text), check=True)


def test_used_dims_may_be_changed():
    expr = AffineExpr.dimension(0) + AffineExpr.dimension(3)
    expr.used_dims().clear()
    assert expr.used_dims() == {0, 3}


def test_operands_by_name_are_the_present_ones():
    one, two = _constant(1), _constant(2)
    add = arith.AddiOp(one, two)
    assert (add.lhs, add.rhs) == (one.result, two.result)
    add.operands[0] = two.result
    assert add.lhs is two.result


def test_lists_of_operands_have_the_sizes_of_the_property():
    memory = Block(arg_types=[MemRefType(f32, [4, 8])]).args[0]
    index = arith.ConstantOp.from_int_and_width(0, i64).result
    load = loop.LoadOp.build(
        operands=[memory, [index], []],
        properties={"map": None},
        result_types=[f32],
    )
    assert [*load.indices] == [index]
    load.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [1, 0, 1])
    assert [*load.indices] == []
    assert [*load.mask_operands] == [index]


def test_slices_of_operands_have_types():
    one, two = _constant(1), _constant(2)
    both = test.TestOp(operands=[one.result, two.result], result_types=[i32, i64])
    assert both.ops.types == (i32, i32)
    assert both.res.types == (i32, i64)


def test_ill_formed_attributes_are_rejected_each_time():
    for _ in range(2):
        with pytest.raises(VerifyException, match="Unexpected attribute i32"):
            FloatAttr.new([FloatData(1.0), i32])
    assert FloatAttr(1.0, f32) == FloatAttr(1.0, f32)


def test_ops_with_missing_operands_are_rejected():
    with pytest.raises(ValueError, match="Expected 2 operand, but got 1"):
        arith.AddiOp.build(operands=[_constant(1)], result_types=[i32])
    assert arith.AddiOp(_constant(1), _constant(2)).properties.keys() == {"overflowFlags"}


def test_ops_may_be_erased_while_they_are_visited():
    block = Block([_constant(value) for value in range(3)])
    for op in block.ops:
        op.detach()
    assert len(block.ops) == 0


def test_a_block_takes_no_op_around_it_or_of_another_block():
    inner = Block()
    outer = test.TestOp(regions=[Region(inner)])
    with pytest.raises(ValueError, match="contained in the operation"):
        inner.add_op(outer)
    Block([op := _constant(1)])
    with pytest.raises(ValueError, match="already attached"):
        inner.add_op(op)


def test_names_are_checked_and_lose_their_numbers():
    value = _constant(1).result
    for _ in range(2):
        value.name_hint = "sum_12"
        assert value.name_hint == "sum"
        with pytest.raises(ValueError, match="Invalid OpResult name"):
            value.name_hint = "1st"
