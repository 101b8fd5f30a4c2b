# SPDX-License-Identifier: Apache-2.0
"""Bugs planted by rule in operations of tensor cores, as text."""

from collections.abc import Callable

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.mutations import mutations
from tilewright.dialects import kernel

Parse = Callable[[str], ModuleOp]

_LOAD = """
kernel.func grid 1 block 32 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<2x16x16xf16, #tile.layout<slots>, 3 : i64>
  %r = kernel.registers : memref<4xf16, 5 : i64>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %ki = %zero to %one step %one {
    kernel.load_matrix %s[0, %t mod 16, %ki * 8] to %r[0] count 2
      : memref<2x16x16xf16, #tile.layout<slots>, 3 : i64>, memref<4xf16, 5 : i64>
  }
}
"""

_MULTIPLY = """
kernel.func grid 1 block 32 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %high = kernel.registers : memref<4xf32, 5 : i64>
  %low = kernel.registers : memref<4xf32, 5 : i64>
  %b = kernel.registers : memref<3x2xf32, 5 : i64>
  %d = kernel.registers : memref<2x2x2xf32, 5 : i64>
  kernel.matrix_multiply m16n8k8_tf32 %high[0], %b[2, 0], %d[0, 0, 0]
    : memref<4xf32, 5 : i64>, memref<3x2xf32, 5 : i64>, memref<2x2x2xf32, 5 : i64>
  kernel.matrix_multiply m16n8k8_tf32 %low[0], %b[2, 0], %d[0, 0, 0]
    : memref<4xf32, 5 : i64>, memref<3x2xf32, 5 : i64>, memref<2x2x2xf32, 5 : i64>
}
"""

_ROUND = """
kernel.func grid 1 block 32 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %scale = arith.constant 1024.0 : f32
  %offset = arith.constant 3.0 : f32
  %tf32 = kernel.round_tf32 %scale : f32
  %scaled = arith.mulf %tf32, %scale : f32
  %moved = arith.addf %scaled, %offset : f32
}
"""


def _mutants(parse: Parse, text: str, type: type[Operation]) -> list[str]:
    """Return the first op of a type after each of its mutations, as text without types."""
    found: list[str] = []
    for number in range(len([*mutations(_first(parse(text), type))])):
        module = parse(text)
        op = _first(module, type)
        mutation = [*mutations(op)][number]
        mutation.change(op)
        module.verify()
        assert mutation.is_of_values
        found.append("" if op.parent is None else str(op).split(" : ")[0])
    return found


def _first(module: ModuleOp, type: type[Operation]) -> Operation:
    return next(op for op in module.walk() if isinstance(op, type))


def test_rows_of_matrices_come_from_other_places_lanes_and_steps(parse: Parse):
    assert _mutants(parse, _LOAD, kernel.LoadMatrixOp) == [
        "kernel.load_matrix %s[1, %t mod 16, %ki * 8] to %r[0] count 2",
        "kernel.load_matrix %s[0, %t mod 16, %ki * 8 + 8] to %r[0] count 2",
        "kernel.load_matrix %s[0, %t mod 16, %ki * 8] to %r[0] count 2 transposed",
        "kernel.load_matrix %s[0, ((%t + 1) mod 2 + %t - %t mod 2) mod 16, %ki * 8] to %r[0] "
        "count 2",
        "kernel.load_matrix %s[0, ((%t + 8) mod 16 + %t - %t mod 16) mod 16, %ki * 8] to %r[0] "
        "count 2",
        "kernel.load_matrix %s[0, %t mod 16, 0] to %r[0] count 2",
    ]


def test_other_fragments_are_multiplied(parse: Parse):
    assert _mutants(parse, _MULTIPLY, kernel.MatrixMultiplyOp) == [
        "",  # dropped
        "kernel.matrix_multiply m16n8k8_tf32 %high[0], %b[0, 0], %d[0, 0, 0]",
        "kernel.matrix_multiply m16n8k8_tf32 %high[0], %b[2, 0], %d[1, 0, 0]",
        "kernel.matrix_multiply m16n8k8_tf32 %low[0], %b[2, 0], %d[0, 0, 0]",
    ]


def test_factors_are_not_rounded(parse: Parse):
    module = parse(_ROUND)
    rounding = _first(module, kernel.RoundTf32Op)
    (mutation,) = mutations(rounding)
    mutation.change(rounding)
    module.verify()
    assert "arith.mulf %scale, %scale" in str(module)


def test_halves_are_not_cut_off(parse: Parse):
    module = parse(_ROUND.replace("kernel.round_tf32", "kernel.halve_tf32"))
    halved = _first(module, kernel.HalveTf32Op)
    (mutation,) = mutations(halved)
    mutation.change(halved)
    module.verify()
    assert "arith.constant 5.000000e-01" in str(module)
    assert "kernel.halve_tf32" not in str(module)


@pytest.mark.parametrize(("name", "found"), [("scale", ["2.048000e+03"]), ("offset", [])])
def test_constant_factors_are_doubled(name: str, found: list[str], parse: Parse):
    module = parse(_ROUND)
    (constant,) = (
        op
        for op in module.walk()
        if isinstance(op, arith.ConstantOp) and op.result.name_hint == name
    )
    values: list[str] = []
    for mutation in mutations(constant):
        mutation.change(constant)
        values.append(str(constant.value).split(" : ")[0])
    assert values == found
