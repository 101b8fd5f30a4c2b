# SPDX-License-Identifier: Apache-2.0
"""Uses that their definitions do not dominate, other ill-formed ops, and well-formed IR."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin as BuiltinDialect
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i32, i64
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.dialects.test import Test
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser

from tilewright.dialects.cuda.expressions import BuiltinOp, CastOp, LiteralOp
from tilewright.dialects.cuda.operators import BinaryOp
from tilewright.dialects.cuda.statements import ForOp, LetOp
from tilewright.dialects.cuda.types import BinaryOperator, Builtin
from tilewright.dialects.loop import LoadOp
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import InvalidOpError, verify_dominance, verify_module


def parse(text: str) -> ModuleOp:
    """Return the IR of `text`, not verified."""
    context = Context()
    for dialect in (BuiltinDialect, Cf, Func, Test):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


DIAMOND = """
  "test.op"() ({{
  ^entry:
    %c, %e = "test.op"() : () -> (i1, i32)
    cf.cond_br %c, ^left(%e : i32), ^right
  ^left(%l : i32):
    "test.op"({in_left}) : (i32) -> ()
    %d = "test.op"() : () -> i32
    "cf.br"(%d)[^join] : (i32) -> ()
  ^right:
    "cf.br"(%e)[^join] : (i32) -> ()
  ^join(%j : i32):
    "test.op"({in_join}) : (i32) -> ()
    "test.termop"() : () -> ()
  }}) : () -> ()
"""

NESTED = """
  %o = "test.op"() : () -> i32
  "test.op"() ({{
    "test.op"() ({{
      "test.op"({inside}) : (i32) -> ()
      %i = "test.op"() : () -> i32
    }}) : () -> ()
    "test.op"({between}) : (i32) -> ()
  }}) : () -> ()
  "test.op"({after}) : (i32) -> ()
"""

WELL_FORMED = [
    DIAMOND.format(in_left="%l", in_join="%j"),
    DIAMOND.format(in_left="%e", in_join="%e"),
    NESTED.format(inside="%o", between="%o", after="%o"),
]

ILL_FORMED = [
    DIAMOND.format(in_left="%d", in_join="%j"),  # before its definition, in one block
    DIAMOND.format(in_left="%l", in_join="%d"),  # on one of two paths
    DIAMOND.format(in_left="%l", in_join="%l"),  # an argument of a block on one of two paths
    DIAMOND.format(in_left="%j", in_join="%j"),  # of a later block
    '%x = "test.op"(%x) : (i32) -> i32',  # of itself
]


@pytest.mark.parametrize("text", WELL_FORMED)
def test_well_formed(text: str):
    verify_dominance(parse(text))


@pytest.mark.parametrize("text", ILL_FORMED)
def test_ill_formed(text: str):
    with pytest.raises(InvalidOpError, match=r"operand #0 .*is not defined before this use"):
        verify_dominance(parse(text))


@pytest.mark.parametrize("user", [1, 2])
def test_a_value_is_not_visible_outside_its_region(user: int):
    module = parse(NESTED.format(inside="%o", between="%o", after="%o"))
    ops = list(module.walk())
    inner = next(op for op in ops if op.results and op.results[0].name_hint == "i")
    victim = [op for op in ops if op.operands][user]
    victim.operands[0] = inner.results[0]
    with pytest.raises(InvalidOpError) as failure:
        verify_dominance(module)
    assert failure.value.op is victim


def test_isolated_from_above():
    text = """
      %o = "test.op"() : () -> i32
      func.func @f() {
        "test.op"(%o) : (i32) -> ()
        func.return
      }
    """
    with pytest.raises(InvalidOpError, match=r"'test.op': operand #0 \(%o\)"):
        verify_dominance(parse(text))


def test_the_innermost_operation_is_blamed():
    module = parse("builtin.module { func.func @f() -> i32 { func.return } }")
    with pytest.raises(
        InvalidOpError, match=r"'func.return': Expected arguments to have"
    ) as failure:
        verify_module(module)
    assert failure.value.op is list(module.walk())[-1]


def test_a_missing_terminator_is_blamed_on_the_operation_that_needs_it():
    module = parse("func.func @f() { func.return }")
    func_op, return_op = list(module.walk())[1:]
    return_op.detach()
    with pytest.raises(InvalidOpError) as failure:
        verify_module(module)
    assert failure.value.op is func_op


@pytest.mark.parametrize(
    ("type", "layout"),
    [
        ("tensor<3x5xf32>", "affine_map<(d0, d1) -> (d0, d0)>"),
        ("tensor<3x5xf32>", "affine_map<(d0, d1) -> (d1, d0, d1)>"),
        ("tensor<3x5xf32>", "affine_map<(d0, d1, d2) -> (d1, d0)>"),
        ("memref<3x5x1xf32>", "affine_map<(d0, d1, d2) -> (d1, d0, 0)>"),
        ("tensor<3x5xf32>", "affine_map<(d0, d1)[s0] -> (d1, d0)>"),
        ("f32", "affine_map<(d0) -> (d0)>"),
        ("tensor<3x5xf32>", '"transposed"'),
    ],
)
def test_a_layout_that_is_no_permutation_is_blamed_on_the_function(type: str, layout: str):
    text = f"func.func @f(%0: i32, %1: {type} {{torch.layout = {layout}}}) {{ func.return }}"
    with pytest.raises(InvalidOpError, match=r"'func.func': torch.layout of argument 1 is .* but"):
        verify_module(parse(text))


def test_among_equal_expressions_the_ill_formed_one_is_found():
    """Expressions are verified once for each form, which includes their types."""
    ops: list[Operation] = []
    for type in (i32, i32, i1, i32):
        literal = LiteralOp(IntegerAttr(1, type))
        ops += [literal, BinaryOp(BinaryOperator.ADD, literal.result, literal.result)]
    with pytest.raises(InvalidOpError, match="'add' does not take i1") as caught:
        verify_module(ModuleOp(ops))
    assert caught.value.op is ops[5]


def test_among_equal_expressions_one_with_a_region_is_found():
    value = IntegerAttr(1, i32)
    ops = [
        LiteralOp(value),
        LiteralOp.create(properties={"value": value}, result_types=[i32], regions=[Region()]),
        LiteralOp(value),
    ]
    with pytest.raises(InvalidOpError, match="Expected 0 regions, but got 1") as caught:
        verify_module(ModuleOp([*ops]))
    assert caught.value.op is ops[1]


def test_among_equal_expressions_one_with_wrong_uses_is_found():
    """Some ops are not verified by their form: `cuda.builtin` looks at its users."""
    first, second = (BuiltinOp(Builtin.THREAD, i32) for _ in range(2))
    let, use = LetOp(first.result, "t"), CastOp(second.result, i64)
    with pytest.raises(InvalidOpError, match=r"name it with cuda.let first"):
        verify_module(ModuleOp([first, let, second, use, LiteralOp(IntegerAttr(1, i32))]))


def test_among_equal_loops_one_with_a_wrong_counter_is_found():
    low = LiteralOp(IntegerAttr(0, i32))
    bodies = [Region(Block(arg_types=[type])) for type in (i32, i32, i64, i32)]
    loops = [ForOp(low.result, low.result, 1, body) for body in bodies]
    with pytest.raises(InvalidOpError, match="one counter of the bounds' type") as caught:
        verify_module(ModuleOp([low, *loops]))
    assert caught.value.op is loops[2]


def test_among_equal_loads_one_of_an_output_is_found():
    text = """
      loop.kernel @f(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
        loop.for %i in 4 {
          %0 = loop.load %x[%i] : memref<4xf32>
          loop.store %0, %out[%i] : memref<4xf32>
        }
        loop.for %i in 4 {
          %0 = loop.load %out[%i] : memref<4xf32>
          loop.store %0, %out[%i] : memref<4xf32>
        }
      }
    """
    module = Parser(context(), text).parse_module()
    with pytest.raises(InvalidOpError, match="reads %out, which is an output") as caught:
        verify_module(module)
    assert caught.value.op is [op for op in module.walk() if isinstance(op, LoadOp)][1]


@pytest.mark.parametrize("ended", [True, False])
def test_among_equal_expressions_one_that_ends_a_body_is_found(ended: bool):
    """A form that was verified in one module is not accepted where it lacks a terminator."""
    literals = [LiteralOp(IntegerAttr(7, i32)) for _ in range(2)]
    verify_module(ModuleOp([*literals]))
    ops = [LiteralOp(IntegerAttr(7, i32)), *([ReturnOp()] if ended else [])]
    module = ModuleOp([FuncOp("f", ((), ()), Region(Block(ops)))])
    if ended:
        verify_module(module)
        return
    with pytest.raises(InvalidOpError, match="is not a terminator") as caught:
        verify_module(module)
    assert caught.value.op is ops[0]
