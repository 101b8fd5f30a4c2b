# SPDX-License-Identifier: Apache-2.0
"""Ops of a kernel that tensor cores do, and the time of a launch with them."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.target import LAUNCH_SECONDS, target
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.fusion.fusion_cost import Work, work_of
from tilewright.passes.loop.fusion.op_counts import REUSE, matrix_ops, runs
from tilewright.passes.loop.fusion.recomputed import parts

Parse = Callable[[str], ModuleOp]

PROGRAM = """
func.func @main(%x: memref<{m}x64x{x}>, %y: memref<64x{n}x{y}>) -> memref<{m}x{n}xf32> {{
  %o = memref.alloc() : memref<{m}x{n}xf32>
  loop.launch @k(%x, %y) -> (%o)
      : (memref<{m}x64x{x}>, memref<64x{n}x{y}>) -> (memref<{m}x{n}xf32>)
  func.return %o : memref<{m}x{n}xf32>
}}
loop.kernel @k(%x: memref<{m}x64x{x}>, %y: memref<64x{n}x{y}>) -> (%out: memref<{m}x{n}xf32>) {{
  loop.for %i in {m}, %j in {n} {{
    %s = loop.reduce %k in 64 with add {{
      %0 = loop.load %x[%i, %k] : memref<{m}x64x{x}>
      %1 = loop.load %y[%k, %j] : memref<64x{n}x{y}>
      {body}
      loop.yield %p : f32
    }} : f32
    loop.store %s, %out[%i, %j] : memref<{m}x{n}xf32>
  }}
}}"""

LOADED = """%a = arith.extf %0 : bf16 to f32
      %b = arith.extf %1 : bf16 to f32
      %p = arith.mulf %a, %b : f32"""

COMPUTED = """%e = math.exp %0 : f32
      %h = arith.truncf %e : f32 to bf16
      %a = arith.extf %h : bf16 to f32
      %b = arith.extf %1 : bf16 to f32
      %p = arith.mulf %a, %b : f32"""

SQUARES = """%a = arith.extf %0 : bf16 to f32
      %p = arith.mulf %a, %a : f32"""

MIXED = """%b = arith.extf %1 : bf16 to f32
      %p = arith.mulf %0, %b : f32"""


def program(parse: Parse, body: str, x: str = "bf16") -> tuple[loop.KernelOp, loop.LaunchOp]:
    module = parse(PROGRAM.format(body=body, x=x, y="bf16", m=256, n=128))
    (kernel,) = (op for op in module.walk() if isinstance(op, loop.KernelOp))
    (launch,) = (op for op in module.walk() if isinstance(op, loop.LaunchOp))
    return kernel, launch


@pytest.mark.parametrize(
    ("body", "x", "free"),
    [
        (LOADED, "bf16", ["arith.extf", "arith.extf", "loop.load", "loop.load"]),
        (COMPUTED, "f32", ["arith.extf", "arith.extf", "loop.load"]),  # not that of %x
    ],
)
def test_products_and_free_ops(parse: Parse, body: str, x: str, free: list[str]):
    kernel, _ = program(parse, body, x)
    found = matrix_ops(kernel)
    assert [op.name for op in found.products] == ["arith.mulf"]
    assert sorted(op.name for op in found.free) == free


def test_declined(parse: Parse):
    for body, x in ((MIXED, "f32"), (SQUARES, "bf16")):  # squares are no product of two matrices
        kernel, _ = program(parse, body, x)
        assert not matrix_ops(kernel).products
        assert not matrix_ops(kernel).free


# Scores of a single query: heads of queries that share their keys are rows of a product.
ONE_QUERY = """
loop.kernel @k(%q: memref<32x64xbf16>, %keys: memref<HEADSx100x64xbf16>)
    -> (%out: memref<32x100xf32>) {
  loop.for %h in 32, %j in 100 {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %q[%h, %k] : memref<32x64xbf16>
      %1 = loop.load %keys[HEAD, %j, %k] : memref<HEADSx100x64xbf16>
      %2 = arith.extf %0 : bf16 to f32
      %3 = arith.extf %1 : bf16 to f32
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %s, %out[%h, %j] : memref<32x100xf32>
  }
}"""


@pytest.mark.parametrize(
    ("heads", "head", "has_rows"),
    [(8, "%h floordiv 4", True), (32, "%h", False), (40, "%h floordiv 4 + %h", False)],
)
def test_heads_that_share_keys(parse: Parse, heads: int, head: str, has_rows: bool):
    text = ONE_QUERY.replace("HEADS", str(heads)).replace("HEAD", head)
    (kernel,) = (op for op in parse(text).walk() if isinstance(op, loop.KernelOp))
    assert bool(matrix_ops(kernel).products) == has_rows


def test_work(parse: Parse):
    kernel, launch = program(parse, LOADED)
    work = work_of(kernel, launch)
    assert work.products == 256 * 128 * 64
    assert work.instructions == 256 * 128  # the stores
    as_rows = work_of(kernel, launch, nest_block(kernel).args)
    assert as_rows.products == 0
    assert as_rows.instructions > 256 * 128 * 64


def test_factors_are_computed_on_float32_lanes(parse: Parse):
    loaded, computed = (
        work_of(*program(parse, body, x)) for body, x in ((LOADED, "bf16"), (COMPUTED, "f32"))
    )
    assert computed.products == loaded.products
    # load, exponential and rounding, once for the 128 columns of a tile
    assert computed.instructions - loaded.instructions == 256 * 64 * (1 + 8 + 1)


def test_seconds():
    chip = target("sm_90a")
    many = 1e12
    busy = Work({}, {}, 0.0, 1 << 20, products=many).seconds(chip) - LAUNCH_SECONDS
    lanes = Work({}, {}, many, 1 << 20).seconds(chip) - LAUNCH_SECONDS
    assert lanes / busy == pytest.approx(4 * 16 * 8 * 16 / 6 / 128, rel=0.01)  # clocks of an SM
    both = Work({}, {}, many, 1 << 20, products=many).seconds(chip) - LAUNCH_SECONDS
    assert both == pytest.approx(busy + lanes)


ONLINE = """
func.func @main(%q: memref<8x300x64xf32>, %key: memref<8x400x64xf32>, %v: memref<8x400x32xf32>)
    -> memref<8x300x32xf32> {
  %o = memref.alloc() : memref<8x300x32xf32>
  loop.launch @k(%q, %key, %v) -> (%o)
      : (memref<8x300x64xf32>, memref<8x400x64xf32>, memref<8x400x32xf32>)
      -> (memref<8x300x32xf32>)
  func.return %o : memref<8x300x32xf32>
}
loop.kernel @k(%q: memref<8x300x64xf32>, %key: memref<8x400x64xf32>, %v: memref<8x400x32xf32>)
    -> (%out: memref<8x300x32xf32>) {
  loop.for %h in 8, %i in 300, %e in 32 {
    %m, %l, %o = loop.reduce %k in 400 with softmax {
      %s = loop.reduce %d in 64 with add {
        %0 = loop.load %q[%h, %i, %d] : memref<8x300x64xf32>
        %1 = loop.load %key[%h, %k, %d] : memref<8x400x64xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %one = arith.constant 1.0 : f32
      %3 = loop.load %v[%h, %k, %e] : memref<8x400x32xf32>
      loop.yield %s, %one, %3 : f32, f32, f32
    } : f32, f32, f32
    %4 = arith.divf %o, %l : f32
    loop.store %4, %out[%h, %i, %e] : memref<8x300x32xf32>
  }
}"""


def test_scores_are_computed_once_for_all_columns(parse: Parse):
    (kernel,) = (op for op in parse(ONLINE).walk() if isinstance(op, loop.KernelOp))
    times = runs(kernel)
    loads = [op for op in times if isinstance(op, loop.LoadOp)]
    softmax, scores = (op for op in times if isinstance(op, loop.ReduceOp))
    rows, columns, keys, size = 8 * 300, 32, 400, 64
    steps = rows * columns * keys
    assert times[softmax] == steps  # an addition of each column
    assert times[softmax.yield_op] == rows * keys  # the weights
    assert times[scores] == times[scores.yield_op] == rows * keys * size
    # a block reads its factors once for the side of a tile: of keys, rows, and rows
    reused = [columns * REUSE, columns * REUSE, REUSE]
    of_scores = steps * size
    assert [times[load] for load in loads] == [
        all / times_used for all, times_used in zip([of_scores, of_scores, steps], reused)
    ]


def test_no_part_of_scores_is_recomputed(parse: Parse):
    (kernel,) = (op for op in parse(ONLINE).walk() if isinstance(op, loop.KernelOp))
    assert list(parts(kernel, runs(kernel))) == []
