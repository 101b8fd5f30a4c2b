# SPDX-License-Identifier: Apache-2.0
"""Shortcuts through xDSL return what xDSL does, and remember nothing that has changed since."""

import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.tile_layout import SlabLayoutAttr


def _constant(value: int, type: object = i32) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, i64 if type is i64 else i32))


def test_classes_are_asked_as_before():
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
def test_equal_attributes_hash_alike(make: Callable[[], object]):
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


def test_ops_are_built_of_ops_and_lists():
    one, two = _constant(1), _constant(2)
    add = arith.AddiOp.build(operands=[one, [two.result]], result_types=[[i32]])
    assert [*add.operands] == [one.result, two.result]
    with pytest.raises(ValueError, match="Expected 2 operand"):
        arith.AddiOp.build(operands=[one], result_types=[i32])
    loop_ = scf.IfOp(_condition(), [], [scf.YieldOp()])
    assert isinstance(loop_.true_region.block.last_op, scf.YieldOp)


def _condition() -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(1, i1))


def test_builders_see_new_ops():
    block = Block()
    with ImplicitBuilder(block):
        one = _constant(1)
        add = arith.AddiOp(one, one)
    assert [*block.ops] == [one, add]


def test_properties_that_are_defaults_are_each_ops_own():
    one, other = (arith.AddiOp(_constant(1), _constant(2)) for _ in range(2))
    assert one.properties == other.properties
    assert one.properties is not other.properties
    assert "overflowFlags" in one.properties


def test_an_op_that_is_alike_but_wrong_is_refused_each_time():
    arith.AddiOp(_constant(1), _constant(2)).verify()
    for _ in range(2):
        with pytest.raises(VerifyException):
            arith.AddiOp(_constant(1), _constant(2, i64)).verify()


def test_an_op_that_has_become_wrong_is_refused():
    one = _constant(1)
    one.verify()
    one.properties["value"] = StringAttr("1")
    with pytest.raises(VerifyException):
        one.verify()


def test_traits_look_around_each_time():
    end = func.ReturnOp()
    function = func.FuncOp("f", FunctionType.from_lists([], []), Region(Block([end])))
    function.verify()
    end.detach()
    scf.IfOp(_condition(), [], Region(Block([end])))
    with pytest.raises(VerifyException, match=r"func\.func"):
        end.verify()


def test_wrong_attributes_are_refused_each_time():
    for _ in range(2):
        with pytest.raises(VerifyException):
            IntegerAttr(7, i1)
        with pytest.raises(VerifyException):
            SlabLayoutAttr.get(order=[0, 0])


def test_names_lose_their_numbers_and_wrong_ones_are_refused():
    value = _constant(1).result
    for _ in range(2):
        value.name_hint = "row_12"
        assert value.name_hint == "row"
        with pytest.raises(ValueError, match="name format"):
            value.name_hint = "1 + 2"


def test_successors_are_those_given():
    target = Block()
    branch = _Branch.create(successors=[target])
    assert [*branch.successors] == [target]
    assert branch.successor_uses[0].operation is branch


class _Branch(Operation):
    name = "test.branch"
