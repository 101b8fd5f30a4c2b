# SPDX-License-Identifier: Apache-2.0
"""
`--check=exact` finds planted bugs without a tolerance, accepts algebra modulo primes, and names
what it cannot compare.
"""

from collections.abc import Callable

import numpy as np
import pytest
from small_product import NEST
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.interpreters.check import PassCheckError, check_pass
from tilewright.interpreters.exact.comparison import ExactComparison, rounds_to_half
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower

Parse = Callable[[str], ModuleOp]

INTEGERS, PRIMES = "for integers and opaque functions", "modulo primes"


def compared(before: ModuleOp, after: ModuleOp) -> str:
    """Return the numbers for which a program is equal, or else the note on it."""
    compare = ExactComparison()
    report = check_pass(before, after, "my-pass", compare=compare)
    assert report.notes == ()
    return "; ".join([*(numbers.name for numbers in compare.compared.values()), *compare.notes])


TILE = """\
loop.kernel @mm(%a: memref<9x13xf32>, %b: memref<13x5xf32>) -> (%out: memref<9x5xf32>) {
  tile.launch (%bm = block 3 m, %tm = thread 4 m, %tn = thread 5 n, %tk = thread 2) {
    %part = loop.reduce %ko in 2 with add {
      %as = tile.stage (%i, %k) in [4, 8] {
        %0 = loop.load %a[%bm * 4 + %i, %ko * 8 + %k] where [ROWS, DEPTH] : memref<9x13xf32>
        loop.yield %0 : f32
      } : memref<4x8xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %1 = loop.load %as[%tm, %tk * 4 + %ki] : memref<4x8xf32, 3 : i64>
        %2 = loop.load %b[%ko * 8 + %tk * 4 + %ki, %tn] where [COLUMNS] : memref<13x5xf32>
        %3 = arith.mulf %1, %2 : f32
        loop.yield %3 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %sum = tile.combine %part across %tk with add : f32
    loop.store %sum, %out[%bm * 4 + %tm, %tn] where [8 - %bm * 4 - %tm, 0 - %tk] : memref<9x5xf32>
  }
}
""".replace("ROWS, DEPTH", "8 - %bm * 4 - %i, 12 - %ko * 8 - %k").replace(
    "COLUMNS", "12 - %ko * 8 - %tk * 4 - %ki"
)

BUGS = {
    "wrong map": ("%as[%tm, %tk * 4 + %ki]", "%as[%tm, %tk + %ki * 2]"),
    "wrong rows": ("%as[%tm,", "%as[3 - %tm,"),
    "mask of one step less": ("12 - %ko * 8 - %k]", "11 - %ko * 8 - %k]"),
    "mask of the wrong axis": ("12 - %ko * 8 - %k]", "12 - %ko * 8 - %k, 8 - %bm * 4 - %k]"),
    "bound": ("loop.reduce %ki in 4", "loop.reduce %ki in 3"),
    "wrong combine": ("across %tk with add", "across %tk with max"),
    "dropped combine": ("loop.store %sum", "loop.store %part"),
    "wrong operation": ("arith.mulf %1, %2", "arith.addf %1, %2"),
}


def test_a_tile_kernel_is_equal_for_integers(parse: Parse):
    assert compared(parse(NEST), parse(TILE)) == INTEGERS


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_found(bug: str, parse: Parse):
    old, new = BUGS[bug]
    assert old in TILE
    with pytest.raises(PassCheckError, match=r"changed what @mm computes: element .* differ"):
        compared(parse(NEST), parse(TILE.replace(old, new)))


NORM = """
loop.kernel @norm(%x: memref<4x64xf32>) -> (%out: memref<4x64xf32>) {
  loop.for %i in 4 {
    %square = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<4x64xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %1 : f32
    } : f32
    %eps = arith.constant 1.000000e-12 : f32
    %2 = arith.addf %square, %eps : f32
    %3 = math.rsqrt %2 : f32
    loop.for %j in 64 {
      %4 = loop.load %x[%i, %j] : memref<4x64xf32>
      %5 = arith.mulf %4, %3 : f32
      loop.store %5, %out[%i, %j] : memref<4x64xf32>
    }
  }
}
"""


def test_a_dropped_epsilon_is_within_the_tolerance_of_floats_but_not_exact(parse: Parse):
    before, after = parse(NORM), parse(NORM.replace("math.rsqrt %2", "math.rsqrt %square"))
    assert check_pass(before, after, "my-pass").compared == ("norm",)
    with pytest.raises(PassCheckError, match=f"element.* differ {INTEGERS}"):
        compared(before, after)


CLAMP = """
loop.kernel @clamp(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %eps = arith.constant 1.000000e-12 : f32
    %1 = math.exp %0 : f32
    %2 = arith.maximumf %1, %eps : f32
    loop.store %2, %out[%i] : memref<64xf32>
  }
}
"""


def test_a_dropped_clamp_that_no_random_float_reaches(parse: Parse):
    before, after = parse(CLAMP), parse(CLAMP.replace("store %2", "store %1"))
    assert check_pass(before, after, "my-pass").compared == ("clamp",)
    with pytest.raises(PassCheckError, match=INTEGERS):
        compared(before, after)


SOFTMAX = """
loop.kernel @softmax(%x: memref<5x40xf32>) -> (%out: memref<5x40xf32>) {
  loop.for %i in 5 {
    %max = loop.reduce %k in 40 with max {
      %0 = loop.load %x[%i, %k] : memref<5x40xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %l in 40 with add {
      %1 = loop.load %x[%i, %l] : memref<5x40xf32>
      %2 = arith.subf %1, %max : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %j in 40 {
      %4 = loop.load %x[%i, %j] : memref<5x40xf32>
      %5 = arith.subf %4, %max : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %sum : f32
      loop.store %7, %out[%i, %j] : memref<5x40xf32>
    }
  }
}
"""

ONLINE = SOFTMAX.replace(SOFTMAX[SOFTMAX.index("    %max") : SOFTMAX.index("    loop.for %j")], """\
    %one = arith.constant 1.000000e+00 : f32
    %max, %sum = loop.reduce %k in 40 with softmax {
      %0 = loop.load %x[%i, %k] : memref<5x40xf32>
      loop.yield %0, %one : f32, f32
    } : f32, f32
""")  # fmt: skip


def test_a_softmax_of_one_pass_is_equal_modulo_primes(parse: Parse):
    assert compared(parse(SOFTMAX), parse(ONLINE)) == PRIMES


def test_a_quotient_is_a_product_with_a_reciprocal(parse: Parse):
    product = SOFTMAX.replace(
        "%7 = arith.divf %6, %sum : f32",
        "%one = arith.constant 1.000000e+00 : f32\n%r = arith.divf %one, %sum : f32\n"
        "%7 = arith.mulf %6, %r : f32",
    )
    assert compared(parse(SOFTMAX), parse(product)) == PRIMES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%k in 40 with softmax", "%k in 39 with softmax"),
        ("loop.yield %0, %one", "loop.yield %0, %0"),
        ("arith.subf %4, %max", "arith.subf %4, %sum"),
        ("arith.divf %6, %sum", "arith.divf %5, %sum"),
    ],
)
def test_bugs_in_a_softmax_of_one_pass(old: str, new: str, parse: Parse):
    assert old in ONLINE
    with pytest.raises(PassCheckError, match="changed what @softmax computes"):
        compared(parse(SOFTMAX), parse(ONLINE.replace(old, new)))


def test_a_softmax_that_may_overflow_is_found(parse: Parse):
    shifted = SOFTMAX.replace("%k in 40 with max", "%k in 10 with max")
    assert check_pass(parse(SOFTMAX), parse(shifted), "my-pass").compared == ("softmax",)
    with pytest.raises(PassCheckError, match=r"changed what @softmax .* for large floats"):
        compared(parse(SOFTMAX), parse(shifted))


EXP_OF_EXP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = prim.constant 5.000000e-01 : f32 -> tensor<4xf32>
  %0 = prim.elementwise mul(%x, %half) : tensor<4xf32>
  %1 = prim.elementwise exp(%x) : tensor<4xf32>
  %2 = prim.elementwise exp(%1) : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""


def test_the_operand_of_an_exp_within_an_exp_is_compared(parse: Parse):
    with pytest.raises(PassCheckError, match="changed what @main computes"):
        compared(parse(EXP_OF_EXP), parse(EXP_OF_EXP.replace("exp(%x)", "exp(%0)")))


VARIANCE = """
loop.kernel @squares(%x: memref<3x50xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 50 with add {
      %0 = loop.load %x[%i, %k] : memref<3x50xf32>
      loop.yield %0 : f32
    } : f32
    %count = arith.constant 5.000000e+01 : f32
    %mean = arith.divf %sum, %count : f32
    %squares = loop.reduce %l in 50 with add {
      %1 = loop.load %x[%i, %l] : memref<3x50xf32>
      %2 = arith.subf %1, %mean : f32
      %3 = arith.mulf %2, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}
"""

MOMENTS = """
loop.kernel @squares(%x: memref<3x50xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %one = arith.constant 1.000000e+00 : f32
    %zero = arith.constant 0.000000e+00 : f32
    %mean, %squares, %count = loop.reduce %l in 50 with moments {
      %1 = loop.load %x[%i, %l] : memref<3x50xf32>
      loop.yield %1, %zero, %one : f32, f32, f32
    } : f32, f32, f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}
"""


def test_moments(parse: Parse):
    assert compared(parse(VARIANCE), parse(MOMENTS)) == PRIMES
    with pytest.raises(PassCheckError):
        compared(parse(VARIANCE), parse(MOMENTS.replace("%l in 50", "%l in 49")))


PRODUCT = """
func.func @main(%x: tensor<4x300xf32>) -> tensor<4xf32> {
  %0 = prim.reduce mul(%x) dims [1] : (tensor<4x300xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""

ROWS_FIRST = "%1 = prim.elementwise add(%x, %x) : tensor<4x300xf32>\n  %0 = prim.reduce"


def test_numbers_that_are_too_large_for_integers_are_compared_modulo_primes(parse: Parse):
    before = PRODUCT.replace("%0 = prim.reduce", ROWS_FIRST).replace("mul(%x)", "mul(%1)")
    two = "%t = prim.constant 2.000000e+00 : f32 -> tensor<4x300xf32>\n  "
    after = before.replace("%1 = ", f"{two}%1 = ").replace("add(%x, %x)", "mul(%x, %t)")
    # The random inputs of integers have a zero in nearly every row of 300, but not in one of 9.
    before, after = (text.replace("4x300", "400x30") for text in (before, after))
    before, after = (
        text.replace("<4x", "<400x").replace("4xf32", "400xf32") for text in (before, after)
    )
    assert compared(parse(before), parse(after)) == PRIMES
    with pytest.raises(PassCheckError, match=f"differ {PRIMES}"):
        compared(parse(before), parse(after.replace("2.000000e+00", "3.000000e+00")))


FOLDED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
  %3 = prim.constant 3.000000e+00 : f32 -> tensor<4xf32>
  %4 = prim.elementwise div(%1, %3) : tensor<4xf32>
  %5 = prim.elementwise mul(%x, %4) : tensor<4xf32>
  func.return %5 : tensor<4xf32>
}
"""

FLOATS = "@main is not compared exactly, but within a tolerance: "


def test_a_folded_constant_may_be_rounded(parse: Parse):
    folded = FOLDED.replace("mul(%x, %4)", "mul(%x, %6)").replace(
        "%5 =", "%6 = prim.constant 0.3333333333 : f64 -> tensor<4xf64>\n  %5 ="
    )
    before, after = (text.replace("f32", "f64") for text in (FOLDED, folded))
    found = compared(parse(before), parse(after))
    assert found == f"{FLOATS}the pass computes the constant 0.333333333, and may round it"
    with pytest.raises(PassCheckError):
        compared(parse(before), parse(after.replace("0.3333333333", "0.3334")))


def test_a_function_without_exact_meaning_is_named(parse: Parse):
    text = """
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = prim.elementwise floordiv(%x, %y) : tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }"""
    found = compared(parse(text), parse(text))
    assert found == f"{FLOATS}it has no floordiv"


def test_an_index_that_an_opaque_function_makes_is_named(parse: Parse):
    text = """
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = prim.elementwise tanh(%x) : tensor<4xf32>
      %1 = prim.elementwise abs(%0) : tensor<4xf32>
      %2 = prim.elementwise cast(%1) : (tensor<4xf32>) -> tensor<4xi64>
      %3 = prim.gather %y[%2] by affine_map<(d0)[s0] -> (s0)> : GATHER
      func.return %3 : tensor<4xf32>
    }"""
    text = text.replace("GATHER", "(tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>")
    found = compared(parse(text), parse(text))
    assert found.startswith(f"{FLOATS}{INTEGERS}: @main: ")
    assert "out of bounds for an axis of size 4" in found


def test_torch_ir_is_compared_within_a_tolerance():
    import torch

    captured = tilewright.capture(torch.exp, torch.ones(3)).module
    found = compared(captured, lower(captured, Level.TENSOR))
    assert found == f"{FLOATS}PyTorch computes the functions of Torch IR"


def test_roundings_to_half_types_count_as_none(parse: Parse):
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = prim.elementwise cast(%x) : (tensor<4xf32>) -> tensor<4xbf16>
      %1 = prim.elementwise cast(%0) : (tensor<4xbf16>) -> tensor<4xf32>
      %2 = prim.elementwise exp(%1) : tensor<4xf32>
      func.return %2 : tensor<4xf32>
    }"""
    before, after = parse(text), parse(text.replace("exp(%1)", "exp(%x)"))
    assert compared(before, after) == INTEGERS
    assert rounds_to_half(before)
    assert not rounds_to_half(parse(FOLDED))


def test_other_seeds_draw_other_numbers(parse: Parse):
    before, after = parse(NEST), parse(NEST.replace("%k in 13", "%k in 12"))
    messages = set[str]()
    for seed in range(3):
        with pytest.raises(PassCheckError) as error:
            check_pass(before, after, "my-pass", seed=seed, compare=ExactComparison())
        messages.add(str(error.value))
    assert len(messages) == 3
    assert np.all(["integers" in message for message in messages])
