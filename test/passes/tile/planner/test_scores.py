# SPDX-License-Identifier: Apache-2.0
"""
Planned kernel of a causal attention's scores (queries times keys): both operands are read along K,
and blocks beyond the diagonal compute nothing.
"""

from collections.abc import Callable

import pytest
from needs import needs_nvrtc
from some_cases import all_only
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.report import report_of
from tilewright.codegen.report.evidence import KernelEvidence
from tilewright.codegen.report.instruction import Category
from tilewright.dialects.target import target
from tilewright.passes.rewriting.launching import with_main

Parse = Callable[[str], ModuleOp]

SCORES = """
loop.kernel @scores(%q: memref<{q}>, %k: memref<{k}>) -> (%out: memref<{out}>) {{
  loop.for %h in {heads}, %i in 512, %j in 512 {{
    %sum = loop.reduce %c in {size} with add {{
      %0 = loop.load %q[0, %h, %i, %c] : memref<{q}>
      %1 = loop.load %k[0, %h floordiv {group}, %j, %c] : memref<{k}>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    }} : f32
    %3 = arith.constant 0.125 : f32
    %4 = arith.mulf %sum, %3 : f32
    %5 = loop.predicate [%i - %j] : i1
    %6 = arith.constant 0xff800000 : f32
    %7 = arith.select %5, %4, %6 : f32
    loop.store %7, %out[0, %h, %i, %j] : memref<{out}>
  }}
}}
"""


def evidence(parse: Parse, heads: int, size: int) -> KernelEvidence:
    text = SCORES.format(
        heads=heads,
        size=size,
        group=heads // 4,
        q=f"1x{heads}x512x{size}xf32",
        k=f"1x4x512x{size}xf32",
        out=f"1x{heads}x512x512xf32",
    )
    (kernel,) = report_of(with_main(parse(text)), target("sm_90a")).kernels
    return kernel


@needs_nvrtc
@pytest.mark.parametrize(("heads", "size"), [(32, 64), all_only(28, 128)])
def test_short_loops_multiply_most_of_the_time(parse: Parse, heads: int, size: int) -> None:
    # With few chunks, the overhead of each chunk counts: addresses and waiting. Factors of float32
    # are split for three matrix instructions each; other instructions are at most nine tenths.
    kernel = evidence(parse, heads, size)
    assert kernel.resources.spill_store_bytes == 0
    assert kernel.loop is not None
    assert kernel.loop.mix.share(Category.HMMA) >= 0.1
