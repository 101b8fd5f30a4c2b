# SPDX-License-Identifier: Apache-2.0
"""Literals, names, parentheses, the prelude, and the errors of conversion and printing."""

import struct
from functools import partial
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import needs_nvrtc
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.parser import Parser

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.expressions import ScopedNames
from tilewright.codegen.literals import literal
from tilewright.codegen.prelude import Call, prelude
from tilewright.codegen.printer import CudaPrinter, CudaTarget
from tilewright.dialects.cuda.expressions import CallOp, LiteralOp
from tilewright.dialects.cuda.identifiers import (
    CUDA_ACTIONS,
    EFFECTS,
    PRELUDE,
    RESERVED,
    identifier,
    is_identifier,
)
from tilewright.dialects.cuda.operators import (
    BinaryOp,
    CompareOp,
    NegOp,
    NotOp,
    TernaryOp,
)
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.errors import TilewrightError
from tilewright.passes.driver.lowering import context

from .kernel_ir import compile_clean, converted, source_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (FloatAttr(1.0, f32), "1.0f"),
        (FloatAttr(0.1, f32), "0.1f"),
        (FloatAttr(-2.5, f32), "-2.5f"),
        (FloatAttr(1e-38, f32), "1e-38f"),
        (FloatAttr(1000.0, f32), "1000.0f"),
        (FloatAttr(2.0**100, f32), "1.2676506e+30f"),
        (FloatAttr(-0.0, f32), "-0.0f"),
        (FloatAttr(-3.4028234663852886e38, f32), "-3.4028235e+38f"),
        (FloatAttr(float("inf"), f32), "infinity()"),
        (FloatAttr(float("-inf"), f32), "-infinity()"),
        (FloatAttr(float("nan"), f32), "quiet_nan()"),
        (FloatAttr(1.0, f64), "1.0"),
        (FloatAttr(0.1, f64), "0.1"),
        (FloatAttr(1e300, f64), "1e+300"),
        (FloatAttr(1.0, f16), "half{0x3c00}"),
        (FloatAttr(-0.0, f16), "half{0x8000}"),
        (FloatAttr(float("inf"), f16), "half{0x7c00}"),
        (FloatAttr(1.0, bf16), "bfloat16{0x3f80}"),
        (FloatAttr(float("nan"), bf16), "bfloat16{0x7fc0}"),
        (IntegerAttr(200, IntegerType(8, Signedness.UNSIGNED)), "200"),
        (IntegerAttr(-3, i32), "-3"),
        (IntegerAttr(-(2**31), i32), "(-2147483647 - 1)"),
        (IntegerAttr(5, i64), "5LL"),
        (IntegerAttr(2**40, i64), "1099511627776LL"),
        (IntegerAttr(-(2**63), i64), "(-9223372036854775807LL - 1)"),
        (IntegerAttr(1, i1), "true"),
        (IntegerAttr(0, i1), "false"),
    ],
)
def test_literals(value: IntegerAttr | FloatAttr, text: str):
    assert literal(value) == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_single_literals_read_back_as_the_same_bits(value: float):
    text = literal(FloatAttr(value, f32)).removesuffix("f")
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)


# Letters and digits of several scripts, and other characters. To draw from all of Unicode,
# Hypothesis would first make a table of it.
HINTS = "aZxk019_.-+ $%/\\\n\0\"'éßñλЖ中ｘ٣²ⅷªﬁ\u0301\u200b\U0001d465😀"


@given(st.text(HINTS, max_size=12))
def test_any_hint_becomes_a_name(hint: str):
    assert is_identifier(identifier(hint))


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("x", "x"),
        ("a_out", "a_out"),
        ("float", "float_"),
        ("erf", "erf_"),
        ("max_nan", "max_nan_"),
        ("a.b", "a_b"),
        ("__x", "x"),
        ("_X", "X"),
        ("2", "v2"),
        ("é", "v"),
    ],
)
def test_names(hint: str, name: str):
    assert identifier(hint) == name


def test_names_are_unique_where_they_are_visible():
    names, x = ScopedNames(), partial(_value, "x")
    assert [names.declare(x()) for _ in range(3)] == ["x", "x1", "x2"]
    with names.scope():
        assert names.declare(x()) == "x3"
        assert names.declare(_value("k")) == "k"
    with names.scope():
        assert names.declare(_value("k")) == "k"
    assert names.declare(x()) == "x3"
    assert names.declare(_value("x1")) == "x1_1"
    assert names.declare(_value(None)) == "v"
    # `float1` and `expm1` are reserved by CUDA
    assert names.declare(_value("int")) == "int_"
    assert [names.declare(_value("expm")) for _ in range(2)] == ["expm", "expm2"]


def _value(hint: str | None) -> SSAValue:
    block = Block(arg_types=[f32])
    block.args[0].name_hint = hint
    return block.args[0]


def _text(value: SSAValue) -> str:
    return CudaPrinter([]).text(value)


def test_parentheses_only_where_they_are_needed():
    def number(value: int) -> SSAValue:
        return LiteralOp(IntegerAttr(value, i32)).result

    def binary(operator: BinaryOperator, a: SSAValue, b: SSAValue) -> SSAValue:
        return BinaryOp(operator, a, b).result

    add, sub = partial(binary, BinaryOperator.ADD), partial(binary, BinaryOperator.SUB)
    mul, div = partial(binary, BinaryOperator.MUL), partial(binary, BinaryOperator.DIV)
    both, either = partial(binary, BinaryOperator.AND), partial(binary, BinaryOperator.OR)

    def less(a: SSAValue, b: SSAValue) -> SSAValue:
        return CompareOp(Comparison.LT, a, b).result

    def truth() -> SSAValue:
        return LiteralOp(IntegerAttr(1, i1)).result

    a, b, c = (partial(number, value) for value in (1, 2, 3))
    assert _text(sub(sub(a(), b()), c())) == "1 - 2 - 3"
    assert _text(sub(a(), sub(b(), c()))) == "1 - (2 - 3)"
    # float addition is not associative
    assert _text(add(a(), add(b(), c()))) == "1 + (2 + 3)"
    assert _text(add(mul(a(), b()), c())) == "1 * 2 + 3"
    assert _text(mul(a(), add(b(), c()))) == "1 * (2 + 3)"
    assert _text(div(a(), mul(b(), c()))) == "1 / (2 * 3)"
    assert _text(sub(a(), number(-2))) == "1 - (-2)"
    assert _text(NegOp(number(-2)).result) == "-(-2)"
    assert _text(NegOp(add(a(), b())).result) == "-(1 + 2)"
    assert _text(NotOp(less(a(), b())).result) == "!(1 < 2)"
    assert _text(both(less(a(), b()), less(add(b(), c()), c()))) == "1 < 2 && 2 + 3 < 3"
    masked = partial(binary, BinaryOperator.BIT_AND)
    assert _text(masked(add(a(), b()), c())) == "(1 + 2) & 3"
    assert _text(add(masked(a(), b()), c())) == "(1 & 2) + 3"
    assert _text(masked(a(), masked(b(), c()))) == "1 & (2 & 3)"
    assert _text(less(masked(a(), b()), c())) == "(1 & 2) < 3"
    assert _text(either(both(truth(), truth()), truth())) == "(true && true) || true"
    assert _text(both(either(truth(), truth()), truth())) == "(true || true) && true"
    choice = TernaryOp(less(a(), b()), b(), c()).result
    assert _text(add(a(), choice)) == "1 + (1 < 2 ? 2 : 3)"
    assert _text(CallOp("max", [add(a(), b()), c()], i32).result) == "max(1 + 2, 3)"


def test_the_prelude_has_every_listed_function():
    types = ("", *C_TYPES.values())
    for name in PRELUDE:
        assert f" {name}(" in prelude([Call(name, type) for type in types])
    for name in EFFECTS - CUDA_ACTIONS:
        assert f" {name}(" in prelude([Call(name, type) for type in types])
    assert prelude([Call("expf", "float")]) == ""


def test_prelude_has_only_the_overload_that_is_called():
    assert "double max_nan(" not in prelude([Call("max_nan", "float")])
    assert "float max_nan(" not in prelude([Call("max_nan", "double")])
    assert "bfloat16" not in prelude([Call("to_float", "half")], ["half"])


@needs_nvrtc
def test_prelude_compiles_for_int_and_long_long():
    calls = "\n".join(
        f"  p[{place}] = {name}(({type})p[0], ({type})3);"
        for place, (name, type) in enumerate(
            (name, type)
            for name in ("floor_div", "ceil_div", "floor_mod", "differ")
            for type in ("int", "long long")
        )
    )
    kernel = f'extern "C" __global__ void k(long long *p) {{\n{calls}\n}}\n'
    types = ("", *C_TYPES.values())
    everything = [Call(name, type) for name in PRELUDE for type in types]
    compile_clean(prelude(everything, types) + "\n" + kernel)


@needs_nvrtc
def test_names_that_ops_give_kernels_compile():
    names = """add sub mul neg sigmoid relu silu gelu maximum minimum mean amax softmax rms_norm
    layer_norm matmul linear bmm transpose reshape permute expand index gather cat where_ select
    reduce fill copy cast size sign square dot ceil_ remainder_ max_pool sum_exp host device global
    shared constant warp block grid thread""".split()
    assert [name for name in names if not is_identifier(name)] == []
    compile_clean("\n".join(f'extern "C" __global__ void {name}() {{}}' for name in names))


def test_reserved_names_are_refused():
    assert not any(is_identifier(name) for name in RESERVED)
    assert all(is_identifier(identifier(name)) for name in RESERVED)


BODY = """
kernel.func grid {grid} block 128 @k(%x: memref<{size}x{type}>) -> (%out: memref<{size}x{type}>) {{
  %b = kernel.block_id
  %t = kernel.thread_id
  %v = loop.load %x[%b * 128 + %t] : memref<{size}x{type}>
  {op}
  loop.store %v, %out[%b * 128 + %t] : memref<{size}x{type}>
}}
"""


def kernel(grid: int, type: str = "f32", op: str = "") -> str:
    """Return a kernel of that many blocks."""
    return BODY.format(grid=grid, size=grid * 128, type=type, op=op)


@needs_nvrtc
def test_unused_values_are_not_declared():
    op = """%n = kernel.shuffle xor %v, 1 width 32 : f32
  %s = kernel.shared : memref<8xf32, 3>
  %w = loop.load %x[%t] : memref<128xf32>
  %e = math.exp %w : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%a = %e) -> (f32) {
    %y = loop.load %x[%k] : memref<128xf32>
    scf.yield %y : f32
  }
  %p = arith.cmpf ogt, %v, %v : f32
  scf.if %p {
  }"""
    source = source_of(kernel(1, op=op))
    compile_clean(source)
    assert source.splitlines()[4:] == [
        "  const int t = threadIdx.x;",
        "  const float v = x[t];",
        "  out[t] = v;",
        "}",
    ]


def test_stores_under_one_mask_share_one_if():
    op = """loop.store %v, %out[%t] where [99 - %t] : memref<128xf32>
  loop.store %v, %out[%t + 1] where [99 - %t] : memref<128xf32>
  loop.store %v, %out[%t + 2] where [98 - %t] : memref<128xf32>"""
    assert source_of(kernel(1, op=op)).splitlines()[6:-2] == [
        "  if (t < 100) {",
        "    out[t] = v;",
        "    out[t + 1] = v;",
        "  }",
        "  if (t < 99) {",
        "    out[t + 2] = v;",
        "  }",
    ]


def test_stores_under_one_mask_that_others_need_too():
    op = """%w = loop.load %x[%t] where [99 - %t] : memref<128xf32>
  loop.store %v, %out[%t] where [99 - %t] : memref<128xf32>
  loop.store %w, %out[%t * 77 mod 128] where [99 - %t] : memref<128xf32>"""
    assert source_of(kernel(1, op=op)).splitlines()[6:-2] == [
        "  const bool in = t < 100;",
        "  const float w = in ? x[t] : 0.0f;",
        "  if (in) {",
        "    out[t] = v;",
        "    out[t * 77 % 128] = w;",
        "  }",
    ]


SELECT = """%p = loop.predicate [99 - %t] : i1
  %w = loop.load %x[%t] where [{bound} - %t] : memref<128xf32>
  %c = arith.constant {fill} : f32
  %s = arith.select %p, %w, %c : f32
  loop.store %s, %out[%t] : memref<128xf32>"""


def test_the_value_of_a_load_outside_of_its_mask():
    source = source_of(kernel(1, op=SELECT.format(bound=99, fill=0.5)))
    assert source.splitlines()[6:-2] == [
        "  const float w = t < 100 ? x[t] : 0.5f;",
        "  out[t] = w;",
    ]


def test_a_selection_under_another_mask_stays():
    source = source_of(kernel(1, op=SELECT.format(bound=98, fill=0.5)))
    assert source.splitlines()[6:-2] == [
        "  const float w = t < 99 ? x[t] : 0.0f;",
        "  out[t] = t < 100 ? w : 0.5f;",
    ]


def test_a_load_that_is_used_twice_stays():
    op = SELECT.format(bound=99, fill=0.5) + "\n  loop.store %w, %out[%t] : memref<128xf32>"
    assert "  const float w = in ? x[t] : 0.0f;" in source_of(kernel(1, op=op))


def test_numbers_that_are_indices_are_not_widened_needlessly():
    op = """%i = loop.index [%t] : i64
  %j = loop.index [%t * 2 - 9] : i64
  %less = arith.cmpi slt, %i, %j : i64
  %k = loop.index [%t + 1] : i64
  %f = arith.sitofp %k : i64 to f32
  %w = arith.select %less, %v, %f : f32
  loop.store %w, %out[%t] : memref<128xf32>"""
    assert "  out[t] = t < t * 2 - 9 ? v : (float)(t + 1);" in source_of(kernel(1, op=op))


def test_an_index_used_twice_as_a_number_is_named():
    op = """%i = loop.index [%t * 3 + 1] : i64
  %less = arith.cmpi slt, %i, %i : i64
  %f = arith.sitofp %i : i64 to f32
  %w = arith.select %less, %v, %f : f32
  loop.store %w, %out[%t] : memref<128xf32>"""
    assert source_of(kernel(1, op=op)).splitlines()[6:-2] == [
        "  const int i = t * 3 + 1;",
        "  out[t] = i < i ? v : (float)i;",
    ]


def test_a_choice_between_a_truth_and_false_is_their_conjunction():
    op = """%p = loop.predicate [99 - %t] : i1
  %q = arith.cmpf olt, %v, %v : f32
  %f = arith.constant false
  %s = arith.select %p, %q, %f : i1
  %n = arith.uitofp %s : i1 to f32
  loop.store %n, %out[%t] : memref<128xf32>"""
    assert "  out[t] = (float)(t < 100 && v < v);" in source_of(kernel(1, op=op))


def test_an_index_that_does_not_vary_is_a_literal():
    op = """%c = loop.index [3] : i64
  %d = loop.index [4294967295] : i32
  %e = arith.extsi %d : i32 to i64
  %s = arith.addi %c, %e : i64
  %f = arith.sitofp %s : i64 to f32
  loop.store %f, %out[%t] : memref<128xf32>"""
    assert "  out[t] = (float)wrapping_add(3LL, (long long)(-1));" in source_of(kernel(1, op=op))


def test_indices_are_int_as_long_as_they_fit():
    assert "const int i = b * 128 + t;" in source_of(kernel(2**24 - 1))
    assert "const long long i = b * 128LL + t;" in source_of(kernel(2**24))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel(1, "f80"), "values of type f80"),
        (kernel(1, "index"), "memory of type memref<128xindex>"),
        (kernel(1, "f16", "%r = arith.negf %v : f16"), "'arith.negf' on \\(f16\\)"),
        (kernel(1, "bf16", "%r = math.exp %v : bf16"), "'math.exp' on \\(bf16\\)"),
        (kernel(1, "i16", "%r = arith.addi %v, %v : i16"), "'arith.addi' on \\(i16, i16\\)"),
        (kernel(1, op="%r = arith.fptosi %v : f32 to i16"), "'arith.fptosi' on \\(f32\\)"),
        (kernel(1, "i1", "%r = arith.divsi %v, %v : i1"), "'arith.divsi' on \\(i1, i1\\)"),
    ],
)
def test_ops_without_a_form_are_errors_that_name_the_kernel(text: str, message: str):
    with pytest.raises(
        TilewrightError, match=f"cannot lower @k: CUDA IR has no form for {message}"
    ):
        converted(text)


def test_printing_unlowered_ops_names_the_passes():
    tile = "loop.kernel @k(%x: memref<1xf32>) -> (%out: memref<1xf32>) {\n tile.launch () {\n }\n}"
    module = Parser(context(), tile).parse_module()
    with pytest.raises(TilewrightError, match=r"'loop.kernel' is not CUDA IR \(run to-kernel,to-c"):
        CudaTarget().emit(Context(), module, StringIO())


def test_printing_checks_ops_of_no_level():
    body = Block()
    body.add_op(func.ReturnOp())
    module = ModuleOp([func.FuncOp("main", ((), ()), Region(body))])
    output = StringIO()
    CudaTarget().emit(Context(), module, output)
    assert output.getvalue() == "// no kernels: nothing is computed\n"
    module.body.block.add_op(arith.ConstantOp(IntegerAttr(1, i32)))
    with pytest.raises(TilewrightError, match=r"'arith\.constant' is not CUDA IR"):
        CudaTarget().emit(Context(), module, output)
