# SPDX-License-Identifier: Apache-2.0
"""Steps of a softmax whose sums are proportional to exp(-c) for their largest score c."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop, tile
from tilewright.passes.facts.weighted_values import largest_of_step

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%x: memref<4x8xf32>, %v: memref<8x4xf32>) -> (%out: memref<4x4xf32>) {{
  tile.launch (%tm = thread 4 m, %tn = thread 4 n) {{
    %m, %o = loop.reduce %ko in 2 with softmax {{
      %0 = loop.load %x[%tm, %ko * 4 + %tn] : memref<4x8xf32>
      %cm = tile.combine %0 across %tn with {largest} : f32
      %lowest = arith.constant {lowest} : f32
      %finite = arith.maximumf %cm, %lowest : f32
      %1 = arith.subf {relative} : f32
      %c = arith.constant {scale} : f32
      %3 = arith.mulf %1, %c : f32
      %w = math.exp {exponent} : f32
      %g = loop.load %v[%ko * 4 + %tn, %tm] : memref<8x4xf32>
      %t = {term} : f32
      %ws = tile.share %t at [%tm, %tn] : memref<4x4xf32, 3 : i64>
      %co = loop.reduce %kk in 4 with {monoid} {{
        %2 = loop.load %ws[%tm, %kk] : memref<4x4xf32, 3 : i64>
        loop.yield %2 : f32
      }} : f32
      %d = arith.constant 0.25 : f32
      %score = arith.mulf %cm, %d : f32
      loop.yield {score}, {sum}{where} : f32, f32
    }} : f32, f32
    loop.store %o, %out[%tm, %tn] : memref<4x4xf32>
  }}
}}"""

PROPORTIONAL = [
    {},
    {"relative": "%0, %cm"},
    {"term": "arith.mulf %g, %w"},
    {"term": "arith.divf %w, %g"},
    {"term": "arith.negf %w"},
    {"term": "arith.addf %w, %w"},
    {"score": "%score", "exponent": "%3"},
]
NOT_PROPORTIONAL = [
    {"largest": "add"},  # not the largest score
    {"lowest": "0.0"},  # may be larger than the scores
    {"relative": "%finite, %0"},
    {"relative": "%finite, %finite"},
    {"term": "arith.mulf %w, %w"},  # exp(-2 cm)
    {"term": "arith.divf %g, %w"},  # exp(cm)
    {"term": "arith.addf %w, %g"},
    {"term": "arith.mulf %cm, %w"},
    {"term": "math.exp %w"},
    {"term": "arith.addf %g, %g"},
    {"monoid": "max"},
    {"monoid": "mul"},
    {"sum": "%cm"},
    {"where": " where [2 - %ko - %tn]"},
    {"score": "%score"},  # the exponents are not scaled
    {"exponent": "%3"},  # the score is not
    {"score": "%score", "exponent": "%3", "scale": "0.5"},
    {"score": "%score", "exponent": "%3", "scale": "-0.25"},
]


def step_of(parse: Parse, **parts: str) -> tile.CombineOp | None:
    chosen = {
        "largest": "max",
        "lowest": "-3.40282347e+38",
        "relative": "%0, %finite",
        "term": "arith.mulf %w, %g",
        "monoid": "add",
        "sum": "%co",
        "score": "%cm",
        "scale": "0.25",
        "exponent": "%1",
        "where": "",
    }
    module = parse(KERNEL.format(**(chosen | parts)))
    (softmax, _) = (op for op in module.walk() if isinstance(op, loop.ReduceOp))
    return largest_of_step(softmax)


@pytest.mark.parametrize("parts", PROPORTIONAL, ids=str)
def test_finds_the_largest_score_of_a_step(parse: Parse, parts: dict[str, str]):
    found = step_of(parse, **parts)
    assert found is not None
    assert found.results[0].name_hint == "cm"


@pytest.mark.parametrize("parts", NOT_PROPORTIONAL, ids=str)
def test_declines_other_steps(parse: Parse, parts: dict[str, str]):
    assert step_of(parse, **parts) is None
