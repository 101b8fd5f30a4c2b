# SPDX-License-Identifier: Apache-2.0
"""Tile IR in the interpreter: axes at any level, combines across them, and slabs of blocks."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]


def softmax(rows: int, columns: int, per_block: int, registers: int) -> str:
    """Return a softmax with its rows in registers: rows of a block, 32 lanes, float4."""
    x = f"memref<{rows}x{columns}xf32>"
    blocks = -(-rows // per_block)
    inside = f"{columns - 1} - %i * 128 - %l * 4 - %v"
    row = f"{rows - 1} - %rb * {per_block} - %rw"
    at = f"[%rb * {per_block} + %rw, %i * 128 + %l * 4 + %v] where [{row}, {inside}]"
    return f"""
      loop.kernel @k(%x: {x}) -> (%out: {x}) {{
        tile.launch (%rb = block {blocks} row, %rw = thread {per_block} row, %l = thread 32 k,
                     %i = register {registers} k, %v = register 4 k) {{
          %a = loop.load %x{at} : {x}
          %m = tile.combine %a across %l, %i, %v with max where [{inside}] : f32
          %d = arith.subf %a, %m : f32
          %e = math.exp %d : f32
          %s = tile.combine %e across %l, %i, %v with add where [{inside}] : f32
          %y = arith.divf %e, %s : f32
          loop.store %y, %out{at} : {x}
        }}
      }}"""


@pytest.mark.parametrize(
    ("rows", "columns", "registers"), [(1, 1, 1), (37, 100, 1), (5, 197, 2), (3, 1000, 8)]
)
def test_softmax_in_registers(
    parse: Parse, rand: Rand, rows: int, columns: int, registers: int
) -> None:
    # Padding joins neither the maximum nor the sum: 100 columns leave 28 registers empty.
    x = rand(rows, columns)
    (result,) = interpret(parse(softmax(rows, columns, 4, registers)), x, function="k")
    exact = np.exp(x - x.max(1, keepdims=True).astype(np.float64))
    np.testing.assert_allclose(result, exact / exact.sum(1, keepdims=True), rtol=2e-6)


def split_matmul(m: int, k: int, n: int) -> str:
    """Return a matmul with split-K by 4, chunks of 8, slabs of both operands, bias and relu."""
    a, b, c = f"memref<{m}x{k}xf32>", f"memref<{k}x{n}xf32>", f"memref<{m}x{n}xf32>"
    chunks = -(-k // 32)
    depth = f"%s * {chunks * 8} + %ko * 8"
    row, column = "%bm * 16 + %tm * 2 + %rm", "%bn * 32 + %tn * 4 + %rn"
    tail = f"{m - 1} - {row.replace('+', '-')}, {n - 1} - {column.replace('+', '-')}"
    minus = f"{k - 1} - {depth.replace('+', '-')}"
    return f"""
      loop.kernel @k(%A: {a}, %B: {b}, %bias: memref<{n}xf32>) -> (%C: {c}) {{
        %zero = arith.constant 0.0 : f32
        tile.launch (%s = block 4 split, %bm = block {-(-m // 16)} m, %bn = block {-(-n // 32)} n,
                     %tm = thread 8 m, %tn = thread 8 n, %rm = register 2 m, %rn = register 4 n) {{
          %p = loop.reduce %ko in {chunks} with add {{
            %as = tile.stage (%i, %j) in [16, 8] {{
              %0 = loop.load %A[%bm * 16 + %i, {depth} + %j]
                where [{m - 1} - %bm * 16 - %i, {minus} - %j] : {a}
              loop.yield %0 : f32
            }} : memref<16x8xf32, 3>
            %bs = tile.stage (%i, %j) in [8, 32] {{
              %0 = loop.load %B[{depth} + %i, %bn * 32 + %j]
                where [{minus} - %i, {n - 1} - %bn * 32 - %j] : {b}
              loop.yield %0 : f32
            }} : memref<8x32xf32, 3>
            %q = loop.reduce %ki in 8 with add {{
              %0 = loop.load %as[%tm * 2 + %rm, %ki] : memref<16x8xf32, 3>
              %1 = loop.load %bs[%ki, %tn * 4 + %rn] : memref<8x32xf32, 3>
              %2 = arith.mulf %0, %1 : f32
              loop.yield %2 : f32
            }} : f32
            loop.yield %q : f32
          }} : f32
          %acc = tile.combine %p across %s with add : f32
          %bv = loop.load %bias[{column}] where [{n - 1} - {column.replace("+", "-")}]
            : memref<{n}xf32>
          %z = arith.addf %acc, %bv : f32
          %r = arith.maximumf %z, %zero : f32
          loop.store %r, %C[{row}, {column}] where [{tail}] : {c}
        }}
      }}"""


@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 65, 17), (70, 333, 50)])
def test_split_matmul_with_an_epilogue(
    parse: Parse, rand: Rand, shape: tuple[int, int, int]
) -> None:
    m, k, n = shape
    a, b, bias = rand(m, k), rand(k, n), rand(n)
    (result,) = interpret(parse(split_matmul(m, k, n)), a, b, bias, function="k", dtype=np.float64)
    exact = np.maximum(a.astype(np.float64) @ b + bias, 0)
    np.testing.assert_allclose(result, exact, rtol=1e-12, atol=1e-12)


def test_a_combine_counts_steps_that_a_value_does_not_depend_on(parse: Parse, rand: Rand) -> None:
    module = parse("""
      loop.kernel @k(%x: memref<6xf32>) -> (%out: memref<6xf32>) {
        tile.launch (%b = block 6, %t = thread 5, %r = register 3) {
          %a = loop.load %x[%b] : memref<6xf32>
          %s = tile.combine %a across %t, %r with add : f32
          loop.store %s, %out[%b] where [0 - %t] : memref<6xf32>
        }
      }""")
    x = rand(6)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_allclose(result, 15 * x, rtol=1e-6)


def test_several_values_combine_at_once(parse: Parse, rand: Rand) -> None:
    module = parse("""
      loop.kernel @k(%x: memref<4x5xf32>) -> (%out: memref<4x5xf32>) {
        tile.launch (%b = block 4, %t = thread 5) {
          %a = loop.load %x[%b, %t] : memref<4x5xf32>
          %q = arith.mulf %a, %a : f32
          %s, %p = tile.combine %a, %q across %t with add : f32, f32
          %r = arith.subf %p, %s : f32
          loop.store %r, %out[%b, %t] : memref<4x5xf32>
        }
      }""")
    x = rand(4, 5).astype(np.float64)
    (result,) = interpret(module, x.astype(np.float32), function="k", dtype=np.float64)
    expected = (x * x).sum(1, keepdims=True) - x.sum(1, keepdims=True)
    np.testing.assert_allclose(result, np.broadcast_to(expected, (4, 5)), rtol=1e-12)


def test_a_stage_computes_and_masks_with_zero(parse: Parse, rand: Rand) -> None:
    # The slab holds exp(x) plus the row's sum for 3 rows, and zero past column 4.
    module = parse("""
      loop.kernel @k(%x: memref<6x8xf32>) -> (%out: memref<6x8xf32>) {
        tile.launch (%b = block 2, %r = thread 3, %c = thread 8) {
          %s = tile.stage (%i, %j) in [3, 8] {
            %0 = loop.load %x[%b * 3 + %i, %j] : memref<6x8xf32>
            %1 = math.exp %0 : f32
            %2 = loop.reduce %k in 8 with add {
              %3 = loop.load %x[%b * 3 + %i, %k] : memref<6x8xf32>
              loop.yield %3 : f32
            } : f32
            %4 = arith.addf %1, %2 : f32
            loop.yield %4 where [4 - %j] : f32
          } : memref<3x8xf32, 3>
          %v = loop.load %s[2 - %r, 7 - %c] : memref<3x8xf32, 3>
          loop.store %v, %out[%b * 3 + %r, %c] : memref<6x8xf32>
        }
      }""")
    x = rand(6, 8)
    (result,) = interpret(module, x, function="k", dtype=np.float64)
    slab = np.exp(x.astype(np.float64)) + x.astype(np.float64).sum(1, keepdims=True)
    slab[:, 5:] = 0
    expected = slab.reshape(2, 3, 8)[:, ::-1, ::-1].reshape(6, 8)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_a_slab_has_bounds(parse: Parse, rand: Rand) -> None:
    module = parse("""
      loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
        tile.launch (%b = block 2, %t = thread 4) {
          %s = tile.stage (%i) in [4] {
            %0 = loop.load %x[%b * 4 + %i] : memref<8xf32>
            loop.yield %0 : f32
          } : memref<4xf32, 3>
          %v = loop.load %s[%b * 4 + %t] : memref<4xf32, 3>
          loop.store %v, %out[%b * 4 + %t] : memref<8xf32>
        }
      }""")
    with pytest.raises(InterpreterError, match=r"subscript 0 of %s is 4, out of bounds .* 4"):
        interpret(module, rand(8), function="k")


def test_register_axes_that_collide(parse: Parse, rand: Rand) -> None:
    module = parse("""
      loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<4xf32>) {
        tile.launch (%t = thread 4, %r = register 2) {
          %v = loop.load %x[%t * 2 + %r] : memref<8xf32>
          loop.store %v, %out[%t] : memref<4xf32>
        }
      }""")
    with pytest.raises(InterpreterError, match=r"element \[0\] is stored twice"):
        interpret(module, rand(8), function="k")


def test_a_large_launch_is_cut_along_a_block_axis(parse: Parse) -> None:
    # The combined block axis stays whole; the other one is cut into pieces.
    module = parse("""
      loop.kernel @k(%x: memref<2x3000x1000xf32>) -> (%out: memref<3000x1000xf32>) {
        tile.launch (%s = block 2 split, %b = block 3000, %t = thread 1000) {
          %0 = loop.load %x[%s, %b, %t] : memref<2x3000x1000xf32>
          %1 = tile.combine %0 across %s with add : f32
          loop.store %1, %out[%b, %t] : memref<3000x1000xf32>
        }
      }""")
    x = np.arange(6_000_000, dtype=np.float32).reshape(2, 3000, 1000)
    (result,) = interpret(module, x, function="k")
    assert (result == x[0] + x[1]).all()


# Six steps are distributed over four blocks: none remains for the last one.
DEALT = """
loop.kernel @k(%x: memref<6xf32>) -> (%out: memref<f32>) {
  tile.launch (%s = block 4) {
    %p = loop.reduce %k in 2 below [BOUND - %s * 2] with add {
      %0 = loop.load %x[%s * 2 + %k] : memref<6xf32>
      loop.yield %0 : f32
    } : f32
    %sum = tile.combine %p across %s with add : f32
    loop.store %sum, %out[] : memref<f32>
  }
}"""


def test_elements_before_the_first_step_are_not_read(parse: Parse, rand: Rand) -> None:
    text = """
      loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<4xf32>) {
        tile.launch (%b = block 4) {
          %sum = loop.reduce %k in 9 from [%b * 2, FIRST] below [%b * 2 + 3] with add {
            %0 = loop.load %x[%k - 1] : memref<8xf32>
            loop.yield %0 : f32
          } : f32
          loop.store %sum, %out[%b] : memref<4xf32>
        }
      }"""
    x = rand(8)
    (result,) = interpret(parse(text.replace("FIRST", "1")), x, function="k")
    expected = [x[max(b * 2 - 1, 0) : b * 2 + 2].sum() for b in range(4)]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    with pytest.raises(InterpreterError, match=r"subscript 0 of %x is -1, out of bounds"):
        interpret(parse(text.replace("FIRST", "0")), x, function="k")


def test_skipped_steps_are_not_read(parse: Parse, rand: Rand) -> None:
    x = rand(6)
    (result,) = interpret(parse(DEALT.replace("BOUND", "6")), x, function="k")
    np.testing.assert_allclose(result, x.sum(), rtol=1e-6)
    with pytest.raises(InterpreterError, match=r"subscript 0 of %x is 6, out of bounds"):
        interpret(parse(DEALT.replace("BOUND", "7")), x, function="k")
