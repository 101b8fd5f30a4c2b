# SPDX-License-Identifier: Apache-2.0
"""Softmax reductions whose threads share scores have the values of their nests; bugs have not."""

import pytest
from proved import changed, failures, kernel

from tilewright.proof.answer import Answer, Outcome
from tilewright.proof.same import same_obligations
from tilewright.proof.solver import Solver

NEST = """\
loop.kernel @attention(%q: memref<8x6xf32>, %k: memref<8x6xf32>, %v: memref<8x4xf32>)
    -> (%out: memref<8x4xf32>) {
  loop.for %i in 8, %l in 4 {
    %max, %sum, %o = loop.reduce %key in 8 with softmax {
      %dot = loop.reduce %d in 6 with add {
        %0 = loop.load %q[%i, %d] : memref<8x6xf32>
        %1 = loop.load %k[%key, %d] : memref<8x6xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %scale = arith.constant 5.000000e-01 : f32
      %score = arith.mulf %dot, %scale : f32
      %one = arith.constant 1.000000e+00 : f32
      %3 = loop.load %v[%key, %l] : memref<8x4xf32>
      loop.yield %score, %one, %3 where [%i - %key] : f32, f32, f32
    } : f32, f32, f32
    %r = arith.divf %o, %sum : f32
    loop.store %r, %out[%i, %l] : memref<8x4xf32>
  }
}
"""

TILE = """\
loop.kernel @attention(%q: memref<8x6xf32>, %k: memref<8x6xf32>, %v: memref<8x4xf32>)
    -> (%out: memref<8x4xf32>) {
  tile.launch (%b = block 2, %tm = thread 4, %tn = thread 4) {
    %max, %sum, %o = loop.reduce %ko in 2 below [%b + 1] with softmax {
      %dot = loop.reduce %d in 6 with add {
        %0 = loop.load %q[%b * 4 + %tm, %d] : memref<8x6xf32>
        %1 = loop.load %k[%ko * 4 + %tn, %d] : memref<8x6xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %counts = loop.predicate [%b * 4 + %tm - %ko * 4 - %tn] : i1
      %infinity = arith.constant 0xff800000 : f32
      %masked = arith.select %counts, %dot, %infinity : f32
      %m = tile.combine %masked across %tn with max : f32
      %lowest = arith.constant -3.40282347e+38 : f32
      %finite = arith.maximumf %m, %lowest : f32
      %relative = arith.subf %masked, %finite : f32
      %scale = arith.constant 5.000000e-01 : f32
      %scaled = arith.mulf %relative, %scale : f32
      %weight = math.exp %scaled : f32
      %w = tile.combine %weight across %tn with add : f32
      %weights = tile.share %weight at [%tm, %tn] : memref<4x4xf32, 3 : i64>
      %p = loop.reduce %kk in 4 with add {
        %3 = loop.load %weights[%tm, %kk] : memref<4x4xf32, 3 : i64>
        %4 = loop.load %v[%ko * 4 + %kk, %tn] : memref<8x4xf32>
        %5 = arith.mulf %3, %4 : f32
        loop.yield %5 : f32
      } : f32
      %largest = arith.mulf %m, %scale : f32
      loop.yield %largest, %w, %p : f32, f32, f32
    } : f32, f32, f32
    %r = arith.divf %o, %sum : f32
    loop.store %r, %out[%b * 4 + %tm, %tn] : memref<8x4xf32>
  }
}
"""


def same(tile: str, nest: str = NEST) -> Answer:
    """Return the answer for the only output of two kernels."""
    (obligation,) = same_obligations(kernel(tile), kernel(nest))
    return obligation.decide(Solver())


SUM = TILE[TILE.index("      %p = loop.reduce") : TILE.index("      %largest")]

SLICED = """\
      %p = loop.reduce %vo in 2 with add {
        %chunk = loop.reduce %kk in 2 with add {
          %3 = loop.load %weights[%tm, %vo * 2 + %kk] : memref<4x4xf32, 3 : i64>
          %4 = loop.load %v[%ko * 4 + %vo * 2 + %kk, %tn] : memref<8x4xf32>
          %5 = arith.mulf %4, %3 : f32
          loop.yield %5 : f32
        } : f32
        loop.yield %chunk : f32
      } : f32
"""

RIGHT = {
    "as it is": ("", ""),
    "in slices": (SUM, SLICED),
    "without a clamp": ("arith.subf %masked, %finite", "arith.subf %masked, %m"),
    "without bounds of the loop": ("below [%b + 1] with", "with"),
}


@pytest.mark.parametrize(("old", "new"), RIGHT.values(), ids=RIGHT)
def test_shared_scores_have_the_values_of_the_nest(old: str, new: str):
    tile = changed(TILE, old, new)
    assert failures(tile) == []
    assert same(tile) == Answer(Outcome.PROVED)


PLANTED = {
    "mask that is too strict": ("%tm - %ko * 4 - %tn]", "%tm - %ko * 4 - %tn - 1]"),
    "mask that is too wide": ("%tm - %ko * 4 - %tn]", "%tm - %ko * 4 - %tn + 1]"),
    "weights of another row": ("%weights[%tm, %kk]", "%weights[3 - %tm, %kk]"),
    "transposed weights": ("%weights[%tm, %kk]", "%weights[%kk, %tm]"),
    "keys in another order": ("%v[%ko * 4 + %kk,", "%v[%ko * 4 + 3 - %kk,"),
    "scores of other keys": ("%k[%ko * 4 + %tn,", "%k[%ko * 4 + 3 - %tn,"),
    "key that is left out": ("%kk in 4", "%kk in 3"),
    "chunk that is left out": ("below [%b + 1]", "below [%b]"),
    "sum of some weights": ("across %tn with add", "across %tn with add where [2 - %tn]"),
    "maximum of some scores": ("across %tn with max", "across %tn with max where [2 - %tn]"),
    "smallest score": ("across %tn with max", "across %tn with min"),
    "scores without their scale": ("loop.yield %largest,", "loop.yield %m,"),
    "another scale of weights": ("mulf %relative, %scale", "mulf %relative, %relative"),
    "weights of another reference": ("%masked, %finite", "%masked, %lowest"),
    "no exponential": ("math.exp %scaled", "math.exp2 %scaled"),
    "results in another order": ("%largest, %w, %p", "%largest, %p, %w"),
    "sum that is the other": ("%largest, %w, %p", "%largest, %w, %w"),
    "squared weights": ("%weight across", "%square across"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("old", "new"), PLANTED.values(), ids=PLANTED)
def test_a_bug_in_shared_scores_is_not_proved(old: str, new: str):
    square = "%square = arith.mulf %weight, %weight : f32\n      %w = tile"
    wrong = changed(changed(TILE, "%w = tile", square), old, new)
    assert failures(wrong) == []
    answer = same(wrong)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.evidence


NEGATIVE = ("5.000000e-01", "-5.000000e-01")


def test_a_negative_scale_turns_the_maximum():
    assert same(changed(TILE, *NEGATIVE), changed(NEST, *NEGATIVE)).outcome is Outcome.UNKNOWN


SEVEN_KEYS = {
    "%k: memref<8x6xf32>, %v: memref<8x4xf32>": "%k: memref<7x6xf32>, %v: memref<7x4xf32>",
    "%key in 8": "%key in 7",
    "%k[%key, %d] : memref<8": "%k[%key, %d] : memref<7",
    "%v[%key, %l] : memref<8": "%v[%key, %l] : memref<7",
    "%k[%ko * 4 + %tn, %d] : memref<8": (
        "%k[%ko * 4 + %tn, %d] where [6 - %ko * 4 - %tn] : memref<7"
    ),
    "%v[%ko * 4 + %kk, %tn] : memref<8": (
        "%v[%ko * 4 + %kk, %tn] where [6 - %ko * 4 - %kk] : memref<7"
    ),
    "- %ko * 4 - %tn] : i1": "- %ko * 4 - %tn, 6 - %ko * 4 - %tn] : i1",
}


def test_padded_keys_add_nothing():
    tile, nest = TILE, NEST
    for old, new in SEVEN_KEYS.items():
        tile, nest = tile.replace(old, new), nest.replace(old, new)
    assert failures(tile) == []
    assert same(tile, nest) == Answer(Outcome.PROVED)
    unmasked = changed(tile, ", 6 - %ko * 4 - %tn] : i1", "] : i1")
    assert same(unmasked, nest).outcome is Outcome.UNKNOWN  # exp(0 - max) beyond the last key


HALVES = {
    "tile.share %weight at [%tm, %tn] : memref<4x4xf32": (
        "arith.truncf %weight : f32 to bf16\n"
        "      %slab = tile.share %weights at [%tm, %tn] : memref<4x4xbf16"
    ),
    "%3 = loop.load %weights[%tm, %kk] : memref<4x4xf32, 3 : i64>": (
        "%half = loop.load %slab[%tm, %kk] : memref<4x4xbf16, 3 : i64>\n"
        "        %3 = arith.extf %half : bf16 to f32"
    ),
}


def test_weights_may_be_rounded():
    tile = TILE
    for old, new in HALVES.items():
        tile = changed(tile, old, new)
    assert failures(tile) == []
    assert same(tile) == Answer(Outcome.PROVED)
