# SPDX-License-Identifier: Apache-2.0
"""Sums by matrix instructions have the fragments of the table; planted bugs are refuted."""

from dataclasses import replace
from pathlib import Path

import pytest
from proved import certificate, changed, failures, kernel
from xdsl.ir.affine import AffineMap

from tilewright.dialects.loop import ReduceOp
from tilewright.dialects.matrix_instruction import INSTRUCTIONS, MatrixInstruction
from tilewright.proof.answer import Outcome
from tilewright.proof.fragments import ByAxes, HeldOnce, fragment_obligations
from tilewright.proof.solver import Solver

FOLDER = Path(__file__).parents[1] / "codegen" / "simulator" / "tile"
PATHS = sorted(FOLDER.glob("matmul_tensor_*.mlir"))
MATMUL = (FOLDER / "matmul_tensor_tn_async.mlir").read_text()


def fragment_failures(text: str) -> list[tuple[str, Outcome, str]]:
    """Return subject, outcome and evidence of each obligation `fragment` that is not proved."""
    return [failure[1:] for failure in failures(text) if failure[0] == "fragment"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_products_by_matrix_instructions_are_proved(path: Path):
    found = certificate(path.read_text())
    assert sum(obligation.kind == "fragment" for obligation, _ in found.answers) >= 7
    assert found.is_proved


A, B = "%sm * 16 + %rm * 8 + %lm", "%sn * 16 + %wn * 8 + %ln * 2 + %vn"
LANES, REGISTERS = "%lm = lane 8 m, %ln = lane 4 n", "%rm = register 2 m, %vn = register 2 n"

REFUTED = {
    "row by a lane of the columns": (A, A.replace("%lm", "%ln"), ["row of A from %t0s"]),
    "row by a register of the columns": (A, A.replace("%rm", "%vn"), ["row of A from %t0s"]),
    "column by a lane of the rows": (B, B.replace("%ln", "%lm"), ["column of B from %t1s"]),
    "column by a register of the rows": (B, B.replace("%vn", "%rm"), ["column of B from %t1s"]),
    "lanes in another order": (
        LANES,
        "%ln = lane 4 n, %lm = lane 8 m",
        ["row of A from %t0s", "column of B from %t1s"],
    ),
    "registers in another order": (
        REGISTERS,
        "%vn = register 2 n, %rm = register 2 m",
        ["row of A from %t0s", "column of B from %t1s"],
    ),
    "other lanes": (LANES, "%lm = lane 4 m, %ln = lane 8 n", ["column of B"]),
    "steps": ("%ki in 32", "%ki in 24", ["sizes of m16n8k16_bf16"]),
    "half a warp": ("%wn = warp 2 n, %lm = lane 8", "%wn = warp 1 n, %lm = lane 4", ["sizes"]),
    "three registers": ("%vn = register 2", "%vn = register 3", ["sizes of m16n8k16_bf16"]),
    "loop of some lanes": ("%ko in 5 with", "%ko in 5 below [%lm] with", ["steps of all lanes"]),
}


@pytest.mark.parametrize(("old", "new", "subjects"), REFUTED.values(), ids=REFUTED)
def test_a_wrong_fragment_is_refuted(old: str, new: str, subjects: list[str]):
    found = fragment_failures(changed(MATMUL, old, new))
    assert len(found) == len(subjects)
    for (subject, outcome, evidence), expected in zip(found, subjects, strict=True):
        assert subject.startswith(expected)
        assert outcome is Outcome.REFUTED
        assert evidence


def test_a_refutation_shows_two_elements_of_a_row():
    wrong = changed(MATMUL, A, A.replace("%lm", "%ln"))
    ((_, _, evidence),) = fragment_failures(wrong)
    point = dict(each.split(" = ") for each in evidence.split(", "))
    assert (point["%lm"], point["%rm"]) == (point["%lm'"], point["%rm'"])
    assert point["%ln"] != point["%ln'"]


PROVED = {
    "any 16 rows": (A, "%sm * 16 + %lm * 2 + %rm"),
    "columns in another order": (B, "%sn * 16 + %wn * 8 + %vn * 4 + %ln"),
    "loop of some blocks": ("%ko in 5 with", "%ko in 5 below [%bm + 4] with"),
}


@pytest.mark.parametrize(("old", "new"), PROVED.values(), ids=PROVED)
def test_fragments_may_be_any_rows_of_memory(old: str, new: str):
    assert fragment_failures(changed(MATMUL, old, new)) == []


def test_factors_may_stand_in_any_order():
    assert fragment_failures(changed(MATMUL, "arith.mulf %3, %5", "arith.mulf %5, %3")) == []


NOT_COVERED = {
    "a maximum": ("%ki in 32 with add", "%ki in 32 with max"),
    "a masked sum": ("loop.yield %6 : f32", "loop.yield %6 where [30 - %ki] : f32"),
    "no product": ("arith.mulf %3, %5", "arith.addf %3, %5"),
    "another function": ("loop.yield %6", "%7 = math.exp %6 : f32\n        loop.yield %7"),
    "a factor that is in no slab": (
        f"loop.load %t0s[%ki, {A}] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>",
        f"loop.load %t0[%ki, {A}] : memref<160x32xbf16>",
    ),
}


@pytest.mark.parametrize(("old", "new"), NOT_COVERED.values(), ids=NOT_COVERED)
def test_other_bodies_are_not_covered(old: str, new: str):
    found = certificate(changed(MATMUL, old, new))
    reason = "loop.reduce by(m16n8k16_bf16) of other terms than products of slabs"
    assert dict(found.not_covered) == {reason: 1}
    assert not found.is_proved


INDEXED = """\
loop.kernel @gathered(%at: memref<16xi32>, %x: memref<16x16xbf16>, %y: memref<16x8xbf16>)
    -> (%out: memref<16x8xf32>) {{
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {{
    %0 = loop.load %at[{at}] : memref<16xi32>
    %1 = loop.to_index %0 below 16 : i32
    %xs = tile.stage (%i, %k) in [16, 16] {{
      %2 = loop.load %x[%i, %k] : memref<16x16xbf16>
      loop.yield %2 : bf16
    }} : memref<16x16xbf16, 3 : i64>
    %ys = tile.stage (%k_1, %j) in [16, 8] {{
      %3 = loop.load %y[%k_1, %j] : memref<16x8xbf16>
      loop.yield %3 : bf16
    }} : memref<16x8xbf16, 3 : i64>
    %sum = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {{
      %4 = loop.load %xs[{row}, %ki] : memref<16x16xbf16, 3 : i64>
      %5 = arith.extf %4 : bf16 to f32
      %6 = loop.load %ys[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %7 = arith.extf %6 : bf16 to f32
      %8 = arith.mulf %5, %7 : f32
      loop.yield %8 : f32
    }} : f32
    loop.store %sum, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("at", "row", "is_proved"), [("0", "%1", True), ("%rm * 8 + %lm", "%1", False)]
)
def test_rows_by_data_are_equal_where_the_data_is(at: str, row: str, is_proved: bool):
    found = fragment_failures(INDEXED.format(at=at, row=row))
    assert [(subject, outcome) for subject, outcome, _ in found] == (
        [] if is_proved else [("row of A from %xs", Outcome.UNKNOWN)]
    )


def by_matrix(text: str) -> tuple[ReduceOp, MatrixInstruction]:
    """Return the reduction of a kernel by a matrix instruction."""
    for op in kernel(text).walk():
        if isinstance(op, ReduceOp) and op.instruction is not None:
            return op, op.instruction
    raise AssertionError


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=str)
def test_a_damaged_table_is_refuted(instruction: MatrixInstruction):
    op, table = by_matrix(MATMUL)[0], INSTRUCTIONS[instruction]
    matrices = {table.a: (table.m, table.k), table.b: (table.k, table.n), table.d: (16, 8)}
    for map, shape in matrices.items():
        assert HeldOnce("fragment", "", op, map, shape).decide(Solver()).outcome is Outcome.PROVED
        row, column = map.results
        for wrong in ((row, column // 2 * 2), (row % 4, column), (row + 1, column)):
            damaged = AffineMap(2, 0, wrong)
            answer = HeldOnce("fragment", "", op, damaged, shape).decide(Solver())
            assert answer.outcome is Outcome.REFUTED


def test_rows_by_axes_are_those_of_the_table():
    op, instruction = by_matrix(MATMUL)
    (right,) = [o for o in fragment_obligations(op, instruction) if isinstance(o, ByAxes)]
    row, column = right.exprs
    assert right.decide(Solver()).outcome is Outcome.PROVED
    for exprs in ((column, row), (row + 1, column), (row, column // 2)):
        assert replace(right, exprs=exprs).decide(Solver()).outcome is Outcome.REFUTED
