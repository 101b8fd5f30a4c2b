# SPDX-License-Identifier: Apache-2.0
"""Ops for tensor cores in Kernel IR, against NumPy: loads of matrices, products, and tf32."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.matrix_instruction import INSTRUCTIONS, MatrixInstruction
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.interpreters.kernel.matrix import half_as_tf32, round_to_tf32
from tilewright.matrix_sums import MatrixSums
from tilewright.passes.rewriting.launching import with_main

Array = NDArray[Any]
Parse = Callable[[str], ModuleOp]

DTYPES = {"bf16": np.dtype(ml_dtypes.bfloat16), "f16": np.dtype(np.float16), "f32": np.float32}


def kernel(x: str, out: str, body: str, *, block: int = 32, more: str = "") -> str:
    """Return a kernel of one block that reads %x and writes %out."""
    return f"""
      kernel.func grid 1 block {block} @k(%x: memref<{x}>{more}) -> (%out: memref<{out}>) {{
        %t = kernel.thread_id
        {body}
      }}"""


def staged(x: str, s: str, shape: tuple[int, int], layout: str = "") -> str:
    """Return ops by which 32 threads copy a matrix in global memory to an array %s."""
    rows, columns = shape
    each, slab = rows * columns // 32, f"memref<{s}{layout}, 3>"
    place = f"(%t * {each} + %i) floordiv {columns}, (%t * {each} + %i) mod {columns}"
    return f"""
        %s = kernel.shared : {slab}
        kernel.unroll %i in {each} {{
          %0 = loop.load %x[{place}] : memref<{x}>
          loop.store %0, %s[{place}] : {slab}
        }}
        kernel.barrier"""


def loaded(element: str, count: int, *, transposed: bool = False, layout: str = "") -> str:
    """
    Return a kernel that loads `count` matrices, one below the other, and writes what lanes get.
    """
    row = 4 if element == "f32" else 8
    each = count * row // 4
    x, out = f"{8 * count}x{row}x{element}", f"32x{each}x{element}"
    word = "transposed " if transposed else ""
    lane = f"%t mod {8 * count}"
    return kernel(
        x,
        out,
        f"""{staged(x, x, (8 * count, row), layout)}
        %r = kernel.registers : memref<{each}x{element}, 5>
        kernel.load_matrix %s[{lane}, 0] to %r[0] count {count} {word}
          : memref<{x}{layout}, 3>, memref<{each}x{element}, 5>
        kernel.unroll %i in {each} {{
          %v = loop.load %r[%i] : memref<{each}x{element}, 5>
          loop.store %v, %out[%t, %i] : memref<{out}>
        }}""",
    )


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(
    ("element", "transposed"),
    [("bf16", False), ("bf16", True), ("f16", False), ("f16", True), ("f32", False)],
)
def test_lanes_receive_words_of_rows(
    parse: Parse, element: str, transposed: bool, count: int
) -> None:
    row = 4 if element == "f32" else 8
    matrices = np.arange(count * 8 * row).reshape(count, 8, row).astype(DTYPES[element])
    (result,) = interpret(
        parse(loaded(element, count, transposed=transposed)),
        matrices.reshape(-1, row),
        function="k",
    )
    rows = matrices.transpose(0, 2, 1) if transposed else matrices
    words = rows.reshape(count, 32, row // 4)  # 4 lanes for each row
    np.testing.assert_array_equal(result, words.transpose(1, 0, 2).reshape(32, -1))


@pytest.mark.parametrize(
    "layout", ["#tile.layout<pad [0, 8]>", "#tile.layout<inner 8>", "#tile.layout<deal 4>"]
)
def test_layouts_change_nothing(parse: Parse, layout: str) -> None:
    x = np.arange(32 * 8).reshape(32, 8).astype(np.float16)
    (dense,), (moved,) = (
        interpret(parse(loaded("f16", 4, layout=each)), x, function="k")
        for each in ("", f", {layout}")
    )
    np.testing.assert_array_equal(dense, moved)


def test_rows_follow_the_order_in_memory(parse: Parse) -> None:
    slab = "8x8xf16, #tile.layout<order [1, 0]>"
    module = parse(
        kernel(
            "8x8xf16",
            "32x2xf16",
            f"""{staged("8x8xf16", "8x8xf16", (8, 8), ", #tile.layout<order [1, 0]>")}
        %r = kernel.registers : memref<2xf16, 5>
        kernel.load_matrix %s[0, %t mod 8] to %r[0] count 1 : memref<{slab}, 3>, memref<2xf16, 5>
        kernel.unroll %i in 2 {{
          %v = loop.load %r[%i] : memref<2xf16, 5>
          loop.store %v, %out[%t, %i] : memref<32x2xf16>
        }}""",
        )
    )
    x = np.arange(64).reshape(8, 8).astype(np.float16)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, x.T.reshape(32, 2))


def multiplied(instruction: MatrixInstruction) -> str:
    """
    Return a kernel in which a warp multiplies two matrices, given one after the other in %x, and
    adds their product to a third, in %c. Lanes load their elements one by one.
    """
    sizes = INSTRUCTIONS[instruction]
    element, size = str(sizes.element), sizes.m * sizes.k + sizes.k * sizes.n
    a, b = f"memref<{sizes.elements_a}x{element}, 5>", f"memref<{sizes.elements_b}x{element}, 5>"
    group, lane = "%t floordiv 4", "%t mod 4"
    if element == "f32":
        at_a = f"({group} + %i mod 2 * 8) * 8 + {lane} + %i floordiv 2 * 4"
        at_b = f"128 + ({lane} + %i * 4) * 8 + {group}"
    else:
        column = f"{lane} * 2 + %i mod 2 + %i floordiv 4 * 8"
        at_a = f"({group} + %i floordiv 2 mod 2 * 8) * 16 + {column}"
        at_b = f"256 + ({lane} * 2 + %i mod 2 + %i floordiv 2 * 8) * 8 + {group}"
    at_d = f"{group} + %i * 8, {lane} * 2 + %j"
    return kernel(
        f"{size}x{element}",
        "16x8xf32",
        f"""
        %a = kernel.registers : {a}
        %b = kernel.registers : {b}
        %d = kernel.registers : memref<3x2x2xf32, 5>
        kernel.unroll %i in {sizes.elements_a} {{
          %0 = loop.load %x[{at_a}] : memref<{size}x{element}>
          loop.store %0, %a[%i] : {a}
        }}
        kernel.unroll %i in {sizes.elements_b} {{
          %0 = loop.load %x[{at_b}] : memref<{size}x{element}>
          loop.store %0, %b[%i] : {b}
        }}
        kernel.unroll %i in 2, %j in 2 {{
          %0 = loop.load %c[{at_d}] : memref<16x8xf32>
          loop.store %0, %d[1, %i, %j] : memref<3x2x2xf32, 5>
        }}
        kernel.matrix_multiply {instruction} %a[0], %b[0], %d[1, 0, 0]
          : {a}, {b}, memref<3x2x2xf32, 5>
        kernel.unroll %i in 2, %j in 2 {{
          %0 = loop.load %d[1, %i, %j] : memref<3x2x2xf32, 5>
          loop.store %0, %out[{at_d}] : memref<16x8xf32>
        }}""",
        more=", %c: memref<16x8xf32>",
    )


SINGLE = [i for i, row in INSTRUCTIONS.items() if row.products == 1 and row.warps == 1]


@pytest.mark.parametrize("instruction", SINGLE)
def test_a_product_is_added(parse: Parse, instruction: MatrixInstruction) -> None:
    sizes, random = INSTRUCTIONS[instruction], np.random.default_rng(0)
    dtype = DTYPES[str(sizes.element)]
    a, b = random.standard_normal((16, sizes.k)), random.standard_normal((sizes.k, 8))
    a, b = a.astype(dtype), b.astype(dtype)
    c = random.standard_normal((16, 8)).astype(np.float32)
    x, module = np.concatenate([a.ravel(), b.ravel()]), parse(multiplied(instruction))
    (result,) = interpret(module, x, c, function="k")
    if dtype == np.float32:  # mma ignores the low 13 bits
        a, b = ((m.view(np.uint32) & 0xFFFFE000).view(np.float32) for m in (a, b))
    exact = c + a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(result, exact.astype(np.float32))


def apart(random: np.random.Generator, shape: tuple[int, int], dtype: Any) -> Array:
    """Return numbers whose magnitudes are far apart, some of them infinite, NaN or subnormal."""
    numbers = np.ldexp(random.standard_normal(shape), random.integers(-12, 13, shape))
    special = random.choice([np.inf, -np.inf, np.nan, 2.0**-24, 0.0, -0.0], shape)
    return np.where(random.random(shape) < 0.01, special, numbers).astype(dtype)


@needs_nvrtc
@pytest.mark.parametrize("instruction", SINGLE)
def test_sums_are_those_of_the_simulator(parse: Parse, instruction: MatrixInstruction) -> None:
    sizes, random = INSTRUCTIONS[instruction], np.random.default_rng(7)
    module = with_main(parse(multiplied(instruction)))
    plan = plan_of(lower(module, "cuda", "sm_80"))
    for sums in MatrixSums:
        backend = SimulatorBackend("sm_80", matrix_sums=sums)
        for _ in range(8):
            x = apart(random, (sizes.k, 24), DTYPES[str(sizes.element)]).ravel()
            c = apart(random, (16, 8), np.float32)
            (found,) = interpret(module, x, c, matrix_sums=sums)
            (expected,) = backend.run(plan, [x, c]).results
            np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))
            assert np.isfinite(found).any()


@pytest.mark.parametrize("instruction", SINGLE)
def test_sums_are_cut_off(parse: Parse, instruction: MatrixInstruction) -> None:
    sizes = INSTRUCTIONS[instruction]
    x = np.full(24 * sizes.k, 2.0**-13, DTYPES[str(sizes.element)])
    c, module = np.ones((16, 8), np.float32), parse(multiplied(instruction))
    once, cut = (interpret(module, x, c, function="k", matrix_sums=sums)[0] for sums in MatrixSums)
    np.testing.assert_array_equal(once, 1 + sizes.k * 2.0**-26)
    np.testing.assert_array_equal(cut, 1)


def test_wide_floats_are_not_rounded(parse: Parse) -> None:
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal(shape) for shape in ((16, 8), (8, 8), (16, 8)))
    x = np.concatenate([a.ravel(), b.ravel()])
    module = parse(multiplied(MatrixInstruction.M16N8K8_TF32))
    (result,) = interpret(module, x, c, function="k", dtype=np.float64)
    np.testing.assert_array_equal(result, c + a @ b)


ROUNDED = [
    (1.0, 1.0),
    (1.0 + 2.0**-11, 1.0 + 2.0**-10),  # ties away from zero
    (-1.0 - 2.0**-11, -1.0 - 2.0**-10),
    (1.0 + 2.0**-11 - 2.0**-23, 1.0),
    (2.0 - 2.0**-23, 2.0),
    (2.0**128 - 2.0**104, np.inf),
    (2.0**-149 * 4096, 2.0**-149 * 8192),  # below the normal numbers
    (np.inf, np.inf),
    (-0.0, -0.0),
    (np.nan, np.nan),
]


@pytest.mark.parametrize(("value", "expected"), ROUNDED)
def test_rounding_to_tf32(value: float, expected: float) -> None:
    result = round_to_tf32(np.asarray([value], np.float32))
    np.testing.assert_array_equal(result, np.asarray([expected], np.float32))
    assert np.signbit(result[0]) == np.signbit(np.float32(expected))
    wide = np.asarray([value])
    assert round_to_tf32(wide) is wide


HALVED = [
    (2.0, 1.0),
    (2.0 + 2.0**-9, 1.0 + 2.0**-10),  # half has 10 bits
    (2.0 + 2.0**-9 - 2.0**-22, 1.0 + 2.0**-10),
    (2.0 + 2.0**-10 - 2.0**-20, 1.0),
    (-4.0 + 2.0**-10, -2.0),  # up to a whole unit is added
    (2.0**128 - 2.0**104, 2.0**127),
    (2.0**-135, 2.0**-136),
    (2.0**-136, 0.0),
    (-np.inf, -np.inf),
    (-0.0, -0.0),
    (np.nan, np.nan),
]


@pytest.mark.parametrize(("value", "expected"), HALVED)
def test_halves_with_the_bits_of_tf32(value: float, expected: float) -> None:
    result = half_as_tf32(np.asarray([value], np.float32))
    np.testing.assert_array_equal(result, np.asarray([expected], np.float32))
    assert np.signbit(result[0]) == np.signbit(np.float32(expected))
    np.testing.assert_array_equal(half_as_tf32(np.asarray([value])), [value / 2])


def test_halves_are_close() -> None:
    x = np.random.default_rng(0).uniform(1, 2, 10000).astype(np.float32)
    result = half_as_tf32(x)
    assert (np.abs(result - x / 2) <= 2.0**-11 * (x / 2)).all()
    assert not (result.view(np.uint32) % (1 << 13)).any()


SLAB, FRAGMENT = "memref<16x16xbf16, 3>", "memref<8xbf16, 5>"
LOAD = f"""
  kernel.load_matrix %s[%t mod 16, %t floordiv 16 mod 2 * 8] to %r[0] count 4
    : {SLAB}, {FRAGMENT}"""
FILL = """
  kernel.unroll %i in 8 {
    loop.store %zero, %s[%t floordiv 2 mod 16, %t mod 2 * 8 + %i] : memref<16x16xbf16, 3>
  }"""

REFILL = FILL.replace("%zero", "%one")


def wrong(body: str, slab: str = SLAB) -> str:
    """Return the parts of a kernel that uses %s and %r wrongly."""
    return f"""
        %zero = arith.constant 0.0 : bf16
        %one = arith.constant 1.0 : bf16
        %s = kernel.shared : {slab}
        %r = kernel.registers : {FRAGMENT}
        {body}"""


def at(subscripts: str, target: str = "0", slab: str = SLAB, count: int = 4) -> str:
    return f"kernel.load_matrix %s[{subscripts}] to %r[{target}] count {count} : {slab}, {FRAGMENT}"


PADDED = "memref<16x16xbf16, #tile.layout<pad [0, 4]>, 3>"
PIECES = "memref<16x16xbf16, #tile.layout<inner 4>, 3>"
BARRIER = "kernel.barrier"
IF = "%lower = loop.predicate [15 - %t] : i1\nscf.if %lower {"

ERRORS = [
    (wrong(f"{FILL}\n{LOAD}"), 32, "another thread writes it"),
    (wrong(LOAD), 32, "which nothing has written"),
    (wrong(f"{FILL}\n{BARRIER}\n{LOAD}\n{REFILL}"), 32, "another thread uses it"),
    (wrong(f"{FILL}\n{BARRIER}\n{at('%t mod 16, 4')}"), 32, "a row begins at byte 8 of %s"),
    (wrong(at("%t mod 16, 0", slab=PADDED), PADDED), 32, "a row begins at byte 40 of %s"),
    (wrong(at("%t mod 16, 0", slab=PIECES), PIECES), 32, "crosses pieces of 4 elements"),
    (wrong(at("%t, 0")), 32, "subscript 0 of %s is 16, out of bounds"),
    (wrong(at("%t mod 16, 16")), 32, "subscript 1 of %s is 16 to 23, out of bounds"),
    (wrong(at("%t, 0", count=1)), 32, "subscript 0 of %s is 16, out of bounds"),
    (wrong(f"{FILL}\n{BARRIER}\n{at('%t mod 16, 0', '2')}"), 32, "elements 2 to 9 of %r"),
    (wrong(f"{FILL}\n{BARRIER}\n{at('%t mod 16, 0', '1', count=1)}"), 32, "at byte 2 of %r"),
    (wrong(f"{FILL}\n{BARRIER}\n{IF}\n{LOAD}\n}}"), 32, "only some lanes of warp 0"),
]


@pytest.mark.parametrize(("body", "block", "message"), ERRORS)
def test_wrong_loads_are_errors(parse: Parse, body: str, block: int, message: str) -> None:
    module = parse(kernel("4xf32", "4xf32", body, block=block))
    with pytest.raises(InterpreterError, match=message.replace("(", r"\(")):
        interpret(module, np.zeros(4, np.float32), function="k")


def test_products_of_unwritten_registers_are_errors(parse: Parse) -> None:
    module = parse(
        kernel(
            "4xf32",
            "4xf32",
            """
        %a = kernel.registers : memref<4xf32, 5>
        %b = kernel.registers : memref<2xf32, 5>
        %d = kernel.registers : memref<4xf32, 5>
        kernel.matrix_multiply m16n8k8_tf32 %a[0], %b[0], %d[0]
          : memref<4xf32, 5>, memref<2xf32, 5>, memref<4xf32, 5>""",
        )
    )
    with pytest.raises(InterpreterError, match="which nothing has written"):
        interpret(module, np.zeros(4, np.float32), function="k")


HAND_WRITTEN = Path(__file__).parents[2] / "passes" / "cuda" / "hand_written" / "matrices.mlir"


@pytest.mark.parametrize("name", ["bf16", "f16", "tf32"])
def test_products_by_way_of_shared_memory(parse: Parse, name: str) -> None:
    random, dtype = np.random.default_rng(0), DTYPES.get(name, np.float32)
    a = random.standard_normal((16, 32)).astype(dtype)
    b = random.standard_normal((32, 8)).astype(dtype)
    inputs = (a.T, b) if name == "f16" else (a, b.T)
    module = parse(HAND_WRITTEN.read_text())
    (result,) = interpret(module, *inputs, function=name)
    if name == "tf32":
        a, b = round_to_tf32(a), round_to_tf32(b)
    expected = np.zeros((16, 8), np.float32)
    step = 8 if name == "tf32" else 16
    for k in range(0, 32, step):  # each instruction rounds once
        part = a[:, k : k + step].astype(np.float64) @ b[k : k + step].astype(np.float64)
        expected = (expected + part).astype(np.float32)
    np.testing.assert_array_equal(result, expected)
