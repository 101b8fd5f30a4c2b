# SPDX-License-Identifier: Apache-2.0
"""`ldmatrix` and `mma`: values, refused forms, and wavefronts of shared memory."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.ir.affine import AffineMap

from tilewright.codegen.simulator import Kind, MatrixSums, Report, SimulatorError
from tilewright.dialects.matrix_instruction import MatrixInstruction

Run = Callable[..., Report]
Array = NDArray[Any]

_BYTES = 4096


def _load_text(form: str, registers: int, space: str = "shared") -> str:
    """Return a kernel in which each lane addresses byte `at[lane]` of a copy of `x`."""
    results = ", ".join(f"%{n}" for n in range(registers))
    outputs = ", ".join(f'"=r"(r[{n}])' for n in range(registers))
    return f"""(const uint4* x, const unsigned* at, unsigned* y) {{
      __shared__ __align__(128) uint4 s[{_BYTES // 16}]; int t = threadIdx.x;
      for (int i = t; i < {_BYTES // 16}; i += 32) s[i] = x[i];
      __syncthreads();
      unsigned from = (unsigned)__cvta_generic_to_shared(s) + at[t], r[4] = {{}};
      asm volatile("ldmatrix.sync.aligned.m8n8.{form}.{space}.b16 {{{results}}}, [%{registers}];"
        : {outputs} : "r"(from) : "memory");
      for (int i = 0; i < 4; ++i) y[i * 32 + t] = r[i]; }}"""


def _load(run: Run, form: str, at: Array, space: str = "shared") -> tuple[Array, Array, Report]:
    """Return the shared memory in elements, and the elements of shape (4, 32, 2) of all lanes."""
    x = np.random.default_rng(1).integers(0, 1 << 16, _BYTES // 2).astype(np.uint16)
    y = np.zeros((4, 32), np.uint32)
    count = int(form[1])
    report = run(_load_text(form, count, space), x, at.astype(np.uint32), y)
    return x, y.view(np.uint16).reshape(4, 32, 2), report


def _matrix(x: Array, at: Array, number: int) -> Array:
    """Return matrix `number` as the manual defines it: rows at the addresses of eight lanes."""
    return np.stack([x[at[8 * number + row] // 2 :][:8] for row in range(8)])


_ROWS = np.arange(32) * 48


@pytest.mark.parametrize("form", ["x1", "x2", "x4", "x1.trans", "x2.trans", "x4.trans"])
def test_lanes_get_two_elements_of_a_row_of_each_matrix(run: Run, form: str):
    count, is_transposed = int(form[1]), "trans" in form
    at = np.where(np.arange(32) < 8 * count, _ROWS, 0xFFFFF1)  # other addresses are not read
    x, got, report = _load(run, form, at, "shared::cta" if is_transposed else "shared")
    assert report.ok, report.errors
    for number in range(count):
        matrix = _matrix(x, at, number)
        for lane in range(32):
            row, column = lane // 4, 2 * (lane % 4)
            places = [(row, column), (row, column + 1)]
            expected = [matrix[p[::-1] if is_transposed else p] for p in places]
            assert got[number, lane].tolist() == expected
    assert not got[count:].any()


def test_swizzled_rows(run: Run):
    """Rows of 128 bytes, whose chunks of 16 bytes are exchanged by the row's number."""
    lane = np.arange(32)
    row, chunk = lane % 16, 2 + lane // 16
    x, got, report = _load(run, "x4", row * 128 + (chunk ^ row % 8) * 16)
    assert report.ok, report.errors
    slab = x[: 16 * 64].reshape(16, 8, 8)
    plain = np.stack([slab[r][np.arange(8) ^ r % 8] for r in range(16)]).reshape(16, 64)
    blocks = [plain[:8, 16:24], plain[8:, 16:24], plain[:8, 24:32], plain[8:, 24:32]]
    np.testing.assert_array_equal(got.reshape(4, 8, 8), blocks)


def test_other_rows_are_loaded_if_one_is_invalid(run: Run):
    at = _ROWS.copy()
    at[[9, 12]] = 20, _BYTES
    x, got, report = _load(run, "x4", at)
    assert [error.kind for error in report.errors] == [Kind.MISALIGNED, Kind.OUT_OF_BOUNDS]
    assert not got[1].reshape(8, 8)[[1, 4]].any()
    at[[9, 12]] = 0
    rows = [row for row in range(8) if row not in (1, 4)]
    np.testing.assert_array_equal(got[1].reshape(8, 8)[rows], _matrix(x, at, 1)[rows])


_PATTERNS: list[tuple[str, Callable[[Array], Array], int, int]] = [
    ("x4", lambda lane: lane * 16, 4, 4),
    ("x4", lambda lane: lane % 16 * 128 + lane // 16 * 16, 32, 4),  # rows of 128 bytes
    ("x4", lambda lane: lane % 16 * 144 + lane // 16 * 16, 4, 4),  # padded
    ("x4", lambda lane: lane % 16 * 128 + (lane // 16 ^ lane % 8) * 16, 4, 4),  # swizzled
    ("x4", lambda lane: lane % 16 * 64, 16, 4),
    ("x4", lambda lane: lane // 2 * 16, 4, 4),  # pairs are served no faster than others
    ("x4", lambda lane: lane * 0, 4, 4),
    ("x2", lambda lane: lane * 128, 16, 2),
    ("x1", lambda lane: lane * 256 % _BYTES, 8, 1),
    ("x1", lambda lane: lane * 16, 1, 1),
]
"""A form of `ldmatrix`, addresses by lane, and the wavefronts with and without conflicts."""


@pytest.mark.parametrize(("form", "at", "wavefronts", "ideal"), _PATTERNS)
def test_each_matrix_is_one_phase(
    run: Run, form: str, at: Callable[[Array], Array], wavefronts: int, ideal: int
):
    _, _, report = _load(run, form, at(np.arange(32)))
    assert report.ok, report.errors
    (load,) = (each for each in report.counters.accesses if each.operation == "ldmatrix")
    assert (load.space, load.size, load.requests) == ("shared", 16, 1)
    assert (load.transactions, load.ideal) == (wavefronts, ideal)


_MULTIPLY = """(const unsigned* a, const unsigned* b, const float* c, float* d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  a += 4 * t; b += 2 * t; c += 4 * t; d += 4 * t;
  float r[4] = {c[0], c[1], c[2], c[3]};
  asm volatile("mma.sync.aligned.SHAPE.row.col.f32.TYPE.TYPE.f32 {%0, %1, %2, %3},"
    " {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  d[0] = r[0]; d[1] = r[1]; d[2] = r[2]; d[3] = r[3]; }"""
_TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "tf32": np.float32}
_FORMS = {
    "bf16": MatrixInstruction.M16N8K16_BF16,
    "f16": MatrixInstruction.M16N8K16_F16,
    "tf32": MatrixInstruction.M16N8K8_TF32,
}


def _places(map: AffineMap, elements: int) -> tuple[Array, Array]:
    """Return rows and columns of the elements of all lanes, by the compiler's table."""
    places = [map.eval([lane, element], []) for lane in range(32) for element in range(elements)]
    rows, columns = np.array(places).T
    return rows, columns


def _multiply(
    run: Run, type: str, a: Array, b: Array, c: Array, sums: MatrixSums = MatrixSums.ROUNDED_ONCE
) -> Array:
    """Return D for stacks of matrices, one for each warp; the fragments are the compiler's."""
    table, count = _FORMS[type].fragments, len(a)
    text = _MULTIPLY.replace("SHAPE", f"m16n8k{table.k}").replace("TYPE", type)
    at_a, at_b = _places(table.a, table.elements_a), _places(table.b, table.elements_b)
    at_d = _places(table.d, table.elements_d)
    held = [x.astype(_TYPES[type])[:, *at] for x, at in ((a, at_a), (b, at_b))]
    words = [np.ascontiguousarray(x).view(np.uint32) for x in held]
    d, result = np.zeros((count, 128), np.float32), np.zeros((count, 16, 8), np.float32)
    added = np.ascontiguousarray(c.astype(np.float32)[:, *at_d])
    block = 32 if count % 2 else 64
    report = run(text, *words, added, d, grid=32 * count // block, block=block, matrix_sums=sums)
    assert report.ok, report.errors
    result[:, *at_d] = d
    return result


def _drawn(type: str, count: int = 4) -> tuple[Array, Array, Array]:
    k, random = _FORMS[type].fragments.k, np.random.default_rng(7)
    shapes = (count, 16, k), (count, k, 8), (count, 16, 8)
    a, b, c = (random.integers(-9, 10, shape).astype(np.float64) for shape in shapes)
    return a, b, c


@pytest.mark.parametrize("sums", MatrixSums)
@pytest.mark.parametrize("type", _FORMS)
def test_products_of_small_integers_are_exact(run: Run, type: str, sums: MatrixSums):
    a, b, c = _drawn(type)
    np.testing.assert_array_equal(_multiply(run, type, a, b, c, sums), a @ b + c)


@pytest.mark.parametrize("sums", MatrixSums)
@pytest.mark.parametrize("type", _FORMS)
def test_infinities_and_nan_stay_in_their_elements(run: Run, type: str, sums: MatrixSums):
    a, b, c = _drawn(type, 2)
    a[0, 3, 2], b[0, 2, :] = np.inf, [1, -1, 0, 2, -2, 3, 1, 1]
    c[0, 3, 7], c[0, 5, 5], c[1, 2, 3] = -np.inf, np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = a @ b + c
    got = _multiply(run, type, a, b, c, sums)
    np.testing.assert_array_equal(got, expected)
    assert np.isnan(got[0, 3, [2, 7]]).all()
    assert (got.view(np.uint32)[np.isnan(got)] == 0x7FFFFFFF).all()


@pytest.mark.parametrize("sums", MatrixSums)
def test_subnormal_numbers_are_kept(run: Run, sums: MatrixSums):
    a, b, c = (0 * x for x in _drawn("f16", 1))
    a[0, 0, 0], b[0, 0] = 2.0**-24, 2.0**-24  # the smallest float16
    c[0, 1] = 2.0**-149  # the smallest float32
    expected = a @ b + c
    assert expected[0, 0, 0] == 2.0**-48
    np.testing.assert_array_equal(_multiply(run, "f16", a, b, c, sums), expected)
    a[0, 0, 0], b[0, 0] = 2.0**-100, 2.0**-40
    np.testing.assert_array_equal(_multiply(run, "bf16", a, b, c, sums), a @ b + c)


def test_tf32_ignores_the_low_bits(run: Run):
    a, b, c = _drawn("tf32", 1)
    low = np.uint32(0x1FFF)
    x, y = ((each.astype(np.float32).view(np.uint32) | low).view(np.float32) for each in (a, b))
    np.testing.assert_array_equal(_multiply(run, "tf32", x, y, c), a @ b + c)


def test_one_rounding_or_many_cuts(run: Run):
    """Products below half of C's last bit add up, or are cut off one bit below the last one."""
    a, b, c = (0 * x for x in _drawn("bf16", 1))
    a[0], b[0], c[0] = 2.0**-12, 2.0**-13, 1
    assert (_multiply(run, "bf16", a, b, c) == 1 + 2.0**-21).all()
    assert (_multiply(run, "bf16", a, b, c, MatrixSums.TRUNCATED) == 1).all()
    b[0] = 2.0**-12
    assert (_multiply(run, "bf16", a, b, c, MatrixSums.TRUNCATED) == 1 + 2.0**-20).all()


@pytest.mark.parametrize(
    "text",
    [
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %0}, {%0, %0, %0, %0}, {%0, %0},"
        " {%0, %0};",
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %0, %0, %0}, {%0, %0}, {%0},"
        " {%0, %0, %0, %0};",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %0, %0, %0}, {%0, %0}, {%0, %0},"
        " {%0, %0, %0, %0};",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0}, [%0];",
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%0];",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%0];",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %0}, [%0];",
        "ldmatrix.sync.aligned.m8n8.shared.b16 {%0}, [%0];",
    ],
)
def test_other_forms_are_refused_with_their_line(run: Run, text: str):
    source = f"""(unsigned* y) {{
      unsigned r = y[0]; asm volatile("{text}" : "+r"(r)); y[0] = r; }}"""
    with pytest.raises(SimulatorError, match=rf"line 2: .* does not know '{text.split()[0]}'"):
        run(source, np.zeros(1, np.uint32))
