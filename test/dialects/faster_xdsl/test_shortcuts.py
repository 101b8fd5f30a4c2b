# SPDX-License-Identifier: Apache-2.0
"""Shortcuts through xDSL return xDSL's results, and cache no outdated values."""

import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    StringAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation

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
