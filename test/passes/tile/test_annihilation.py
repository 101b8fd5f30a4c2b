# SPDX-License-Identifier: Apache-2.0
"""Values that are proved to be zero wherever masked loads are zero, and values that are not."""

import math
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.tile.annihilation import beyond

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%x: memref<65xf32>, %w: memref<65xf32>, %n: memref<65xi64>, %b: memref<1xf32>)
    -> (%out: memref<f32>) {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %huge = arith.constant 1.0e30 : f32
  %infinite = arith.constant 0x7f800000 : f32
  %minus_infinite = arith.constant 0xff800000 : f32
  tile.launch () {{
    %sum = loop.reduce %k in 80 with add {{
      %x0 = loop.load %x[%k] where [64 - %k] : memref<65xf32>
      %w0 = loop.load %w[%k] where [%k - 1, 64 - %k] : memref<65xf32>
      %n0 = loop.load %n[%k] where [64 - %k] : memref<65xi64>
      %b0 = loop.load %b[0] : memref<1xf32>
      %c0 = loop.load %x[%k] where [60 - %k] : memref<65xf32>
      %p = loop.predicate [%k - 2, 64 - %k] : i1
      %q = loop.predicate [%k - 2] : i1
      {body}
      loop.yield %v where [64 - %k] : {type}
    }} : {type}
  }}
}}"""

ZERO = {
    "load": "%v = arith.addf %x0, %zero : f32",
    "two conditions": "%v = arith.addf %w0, %zero : f32",
    "product": "%v = arith.mulf %x0, %w0 : f32",
    "difference": "%d = arith.subf %x0, %w0 : f32   %v = math.absf %d : f32",
    "power": "%v = arith.mulf %x0, %x0 : f32",
    "relu": "%v = arith.maximumf %x0, %zero : f32",
    "silu": """%a = arith.negf %x0 : f32   %e = math.exp %a : f32   %d = arith.addf %e, %one : f32
               %v = arith.divf %x0, %d : f32""",
    "gelu": """%a = arith.mulf %x0, %half : f32   %e = math.erf %a : f32
               %d = arith.addf %e, %one : f32   %v = arith.mulf %a, %d : f32""",
    "tanh": "%v = math.tanh %x0 : f32",
    "hardswish": """%a = arith.addf %x0, %three : f32   %d = arith.maximumf %a, %zero : f32
                    %v = arith.mulf %x0, %d : f32""",
    "half": "%h = arith.truncf %x0 : f32 to f16   %v = arith.extf %h : f16 to f32",
    "same either way": "%v = arith.select %q, %x0, %w0 : f32",
    "value selected outside": "%v = arith.select %p, %b0, %x0 : f32",
    "no weight": """%s = arith.select %p, %b0, %minus_infinite : f32   %e = math.exp %s : f32
                    %v = arith.mulf %e, %x0 : f32""",
    "product by a finite fill": """%f = arith.select %p, %x0, %one : f32
                                   %v = arith.mulf %f, %w0 : f32""",
}

NOT_ZERO = {
    "constant": "%v = arith.addf %one, %zero : f32",
    "exp": "%v = math.exp %x0 : f32",
    "cos": "%v = math.cos %x0 : f32",
    "unmasked": "%v = arith.addf %b0, %zero : f32",
    "another condition": "%v = arith.addf %c0, %zero : f32",
    "zero times unknown": "%v = arith.mulf %x0, %b0 : f32",
    "zero times infinity": "%v = arith.mulf %x0, %infinite : f32",
    "zero times a possible overflow": """%a = arith.mulf %huge, %huge : f32
                                       %v = arith.mulf %x0, %a : f32""",
    "zero by zero": "%v = arith.divf %x0, %w0 : f32",
    "logarithm of zero": "%v = math.log %x0 : f32",
    "cancellation": "%a = arith.subf %three, %three : f32   %v = arith.mulf %a, %x0 : f32",
    "inexact divisor": """%a = arith.addf %huge, %one : f32   %c = arith.subf %a, %huge : f32
                                 %v = arith.divf %x0, %c : f32""",
    "true is one": """%t = arith.constant true   %u = arith.uitofp %t : i1 to f32
                      %v = arith.maximumf %u, %zero : f32""",
    "either": "%v = arith.select %q, %x0, %b0 : f32",
    "zero times minus infinity": "%v = arith.mulf %x0, %minus_infinite : f32",
    "infinities that cancel": """%a = arith.subf %minus_infinite, %minus_infinite : f32
                                 %v = arith.mulf %x0, %a : f32""",
    "finite by assumption": "%v = arith.mulf %x0, %b0 fastmath<nnan,ninf> : f32",
    "attention": """%a = arith.subf %x0, %b0 : f32   %e = math.exp %a : f32
                    %v = arith.mulf %e, %w0 : f32""",
}


HIDDEN = "%{} = arith.select %p, %b0, %minus_infinite : f32 "


def value_beyond(
    parse: Parse, body: str, type: str = "f32", *, if_finite: bool = False
) -> float | None:
    """
    Return the value that `beyond` proves for `%v` outside the mask of the body's yield, or None.
    """
    module = parse(KERNEL.format(body=body, type=type))
    (end,) = [op for op in module.walk() if isinstance(op, loop.YieldOp)]
    assert end.mask is not None
    condition = end.mask.data.results, end.mask_operands
    return beyond(end.values[0], condition, if_finite=if_finite)


def proved(parse: Parse, body: str, type: str = "f32", *, if_finite: bool = False) -> bool:
    """True if `%v` is proved to be zero outside the mask of the body's yield."""
    return value_beyond(parse, body, type, if_finite=if_finite) == 0


@pytest.mark.parametrize("body", ZERO.values(), ids=ZERO)
def test_zero_annihilates(parse: Parse, body: str) -> None:
    assert proved(parse, body)


@pytest.mark.parametrize("body", NOT_ZERO.values(), ids=NOT_ZERO)
def test_zero_does_not_annihilate(parse: Parse, body: str) -> None:
    assert not proved(parse, body)


def test_hidden_scores_are_minus_infinity(parse: Parse) -> None:
    """
    A hidden score is proved to be -inf, but nothing is proved about its difference to a maximum.
    """
    assert value_beyond(parse, HIDDEN.format("v")) == -math.inf
    assert value_beyond(parse, HIDDEN.format("h") + "%v = arith.subf %h, %b0 : f32") is None


def test_integers_have_no_infinity(parse: Parse) -> None:
    data = "%d = arith.fptosi %b0 : f32 to i64   %v = arith.muli %n0, %d : i64"
    assert proved(parse, data, "i64")
    wraps = """%big = arith.constant 65536 : i64   %m = arith.muli %big, %big : i64
               %v = arith.addi %n0, %m : i64"""
    assert not proved(parse, wraps, "i64")


def test_values_finite_by_flags_annihilate_where_the_program_computes_them(parse: Parse) -> None:
    product = "%v = arith.mulf %x0, %b0 fastmath<{}> : f32"
    assert proved(parse, product.format("nnan,ninf"), if_finite=True)
    assert not proved(parse, product.format("nnan"), if_finite=True)  # may be infinite
    assert not proved(parse, "%v = arith.mulf %b0, %b0 fastmath<nnan,ninf> : f32", if_finite=True)
