# SPDX-License-Identifier: Apache-2.0
"""The criterion for right results: errors that it allows, and errors that it rejects."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.arrays import ROUNDOFF
from tilewright.errors import UsageError
from tilewright.interpreters.comparison import Comparison, compare
from tilewright.interpreters.program import Function, Program, perturbed_inputs
from tilewright.passes.driver.lowering import context

Array = NDArray[Any]


def one(values: Sequence[float]) -> Array:
    """Return a float32 array."""
    return np.array(values, np.float32)


def judged(
    function: Function,
    inputs: list[Array],
    output: Array,
    kernel_ir: ModuleOp | None = None,
    dtype: Any = np.float32,
    against: Function | None = None,
) -> Comparison:
    """Compare `output` with `function` of the inputs, whose results are rounded to `dtype`."""
    program = program_of(function, dtype)
    if against is not None:
        program = replace(program, against=program_of(against, dtype))
    (comparison,) = compare(program, inputs, [output], lambda: kernel_ir)
    return comparison


def program_of(function: Function, dtype: Any = np.float32) -> Program:
    """Return the program that computes `function`; results are rounded to `dtype`."""

    def exact(arrays: Sequence[Array]) -> list[Array]:
        widened = [a.astype(np.float64) if a.dtype.name in ROUNDOFF else a for a in arrays]
        return function(widened)

    def rounded(arrays: Sequence[Array]) -> list[Array]:
        results = function(arrays)
        return [r.astype(dtype) if r.dtype.name in ROUNDOFF else r for r in results]

    return Program(
        ModuleOp([]),
        exact,
        lambda arrays, roundings: exact(perturbed_inputs(arrays, roundings)),
        rounded,
        "NumPy",
    )


def double(arrays: Sequence[Array]) -> list[Array]:
    """Double the input, without rounding."""
    return [arrays[0] * 2]


def total(arrays: Sequence[Array]) -> list[Array]:
    """Sum many terms exactly, and round once."""
    return [np.array(np.sum(arrays[0], dtype=np.float64))]


def test_the_exact_result_is_right():
    comparison = judged(double, [one([1, 2, 3])], one([2, 4, 6]))
    assert (comparison.reason, comparison.error) == ("", 0.0)


def test_some_units_in_the_last_place_are_right():
    six = np.nextafter(np.nextafter(np.float32(6), np.float32(7)), np.float32(7))
    assert judged(double, [one([1, 2, 3])], one([2, 4, six])).reason == ""


def test_an_error_in_the_fifth_digit_is_wrong():
    comparison = judged(double, [one([1, 2, 3])], one([2, 4, 6.0001]))
    assert comparison.reason.startswith("the error is 0.0001, more than ")


def test_a_sum_may_have_the_errors_of_its_terms():
    """The terms cancel: no order of summation in float32 gives the sum to its last place."""
    terms = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    pairwise = np.sum(terms)
    (exact,) = total([terms])
    assert abs(pairwise - exact) > np.spacing(np.float32(exact))
    assert judged(total, [terms], np.array(pairwise)).reason == ""
    assert judged(total, [terms], np.array(pairwise + np.float32(1e-3))).reason != ""


IN_ORDER = """
func.func @main(%x: memref<10000xf32>) -> memref<f32> {
  %y = memref.alloc() : memref<f32>
  loop.launch @sum(%x) -> (%y) : (memref<10000xf32>) -> (memref<f32>)
  func.return %y : memref<f32>
}
kernel.func grid 1 block 1 @sum(%x: memref<10000xf32>) -> (%out: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  %sum = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %v = loop.load %x[%k] : memref<10000xf32>
    %next = arith.addf %acc, %v : f32
    scf.yield %next : f32
  }
  loop.store %sum, %out[] : memref<f32>
}
"""


def test_kernels_may_add_in_order():
    """
    A chain of 10,000 sums rounds 10,000 times; the allowed error follows from the kernel's
    rounding.
    """
    terms = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    in_order = np.cumsum(terms, dtype=np.float32)[-1]
    kernel_ir = Parser(context(), IN_ORDER).parse_module()
    assert judged(total, [terms], np.array(in_order)).reason != ""
    assert judged(total, [terms], np.array(in_order), kernel_ir).reason == ""
    assert judged(total, [terms], np.array(in_order + np.float32(1e-3)), kernel_ir).reason != ""


def test_a_mistake_is_not_rounding():
    """The kernel omits one term, in float32 and in float64."""
    terms = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    wrong = np.cumsum(terms[:-1], dtype=np.float32)[-1]
    kernel_ir = Parser(
        context(), IN_ORDER.replace("constant 10000", "constant 9999")
    ).parse_module()
    assert judged(total, [terms], np.array(wrong), kernel_ir).reason != ""


def test_a_jump_at_an_input_does_not_widen_the_tolerance():
    """Rounding 3 to its neighbour below moves its floor by 1."""

    def floor(arrays: Sequence[Array]) -> list[Array]:
        return [np.floor(arrays[0])]

    inputs = [np.arange(64, dtype=np.float32)]
    assert judged(floor, inputs, inputs[0]).reason == ""
    assert judged(floor, inputs, inputs[0] + np.float32(0.01)).reason != ""


def floor_of(factor: float) -> Function:
    """Return the floor of a multiple, a function with jumps."""
    return lambda arrays: [np.floor(arrays[0] * arrays[0].dtype.type(factor))]


def test_an_element_on_the_other_side_of_a_jump_is_right_and_widens_nothing():
    """Some tenths, times 10, are on different sides of an integer in float32 and in float64."""
    inputs = [np.arange(1, 1000, dtype=np.float32) / np.float32(10)]
    exact, rounded = (floor_of(10.0)(x)[0] for x in ([inputs[0].astype(np.float64)], inputs))
    jumped = np.flatnonzero(exact != rounded)
    assert 0 < len(jumped) < 500
    for output in (rounded, exact.astype(np.float32)):
        assert judged(floor_of(10.0), inputs, output).reason == ""
    for element in (int(jumped[0]), int(np.flatnonzero(exact == rounded)[0])):
        wrong = rounded.copy()
        wrong[element] += 2
        assert judged(floor_of(10.0), inputs, wrong).reason.startswith("the error is ")


@pytest.mark.parametrize(
    ("dtype", "digits"), [(np.float16, 10), (bfloat16, 7), (np.float32, 23), (np.float64, 52)]
)
def test_each_dtype_has_its_own_roundoff(dtype: Any, digits: int):
    """An error of some units in the last place is right; one in half of the digits is wrong."""
    values = np.linspace(1, 2, 64).astype(dtype)

    def result(factor: float) -> Array:
        return (values.astype(np.float64) * (2 * (1 + factor))).astype(dtype)

    assert judged(double, [values], result(0), dtype=dtype).reason == ""
    assert judged(double, [values], result(3 * 2.0**-digits), dtype=dtype).reason == ""
    wrong = judged(double, [values], result(2.0 ** (-digits / 2)), dtype=dtype)
    assert wrong.reason.startswith("the error is ")


def test_the_rounding_of_an_input_counts_in_its_own_dtype():
    """The inputs are halves, and a float32 result is no more precise than they are."""
    values = np.linspace(1, 2, 64).astype(np.float16)
    assert judged(double, [values], one(list(values * 2.0 * (1 + 2.0**-11)))).reason == ""
    assert judged(double, [values], one(list(values * 2.0 * (1 + 2.0**-6)))).reason != ""


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_values_must_have_their_places(value: float):
    inputs, special = [one([1, value, 3])], one([2, value, 6])
    assert judged(double, inputs, special).reason == ""
    comparison = judged(double, inputs, one([2, 4, 6]))
    assert comparison.error is not None
    assert np.isnan(comparison.error)
    assert comparison.reason == f"element [1] is 4, should be {value:g}"
    assert (
        judged(double, [one([1, 2, 3])], special).reason == f"element [1] is {value:g}, should be 4"
    )


def test_infinity_of_the_wrong_sign():
    assert judged(double, [one([np.inf])], one([-np.inf])).reason != ""


def quotient_of_zeros(arrays: Sequence[Array]) -> list[Array]:
    """Return NaN everywhere."""
    with np.errstate(invalid="ignore"):
        return [(arrays[0] - arrays[0]) / (arrays[0] - arrays[0])]


@pytest.mark.parametrize(
    ("ours", "other"), [(double, quotient_of_zeros), (quotient_of_zeros, double)]
)
def test_special_values_of_another_program_must_match(ours: Function, other: Function):
    """NaN in one program and numbers in the other are wrong, whichever of the two has the NaN."""
    inputs = [one([1, 2, 3])]
    comparison = judged(ours, inputs, ours(inputs)[0], against=other)
    assert comparison.against_error is not None
    assert np.isnan(comparison.against_error)
    assert comparison.reason.startswith("element [0] is ")
    assert comparison.reason.endswith(" in --against")
    assert judged(ours, inputs, ours(inputs)[0], against=ours).reason == ""


def test_infinities_of_another_program_must_have_the_same_sign():
    inputs = [one([np.inf])]

    def negated(arrays: Sequence[Array]) -> list[Array]:
        return [-arrays[0]]

    assert judged(double, inputs, one([np.inf]), against=double).reason == ""
    wrong = judged(double, inputs, one([np.inf]), against=negated)
    assert wrong.reason == "element [0] is inf, but -inf in --against"


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.bool_])
def test_outputs_of_another_program_must_have_the_same_dtype(dtype: Any):
    """0 and 1 equal False and True, but these programs have different dtypes."""
    against = replace(program_of(double), rounded=in_dtype(dtype))
    program = replace(program_of(double), against=against)
    with pytest.raises(UsageError, match="an output is float32, but"):
        compare(program, [one([0, 0.5])], [one([0, 1])])


def in_dtype(dtype: Any) -> Function:
    """Return a function that doubles its input, with results of the given dtype."""
    return lambda arrays: [double(arrays)[0].astype(dtype)]


def square_over(arrays: Sequence[Array]) -> list[Array]:
    """Return a square over 1e30, which overflows in float32 but not in float64."""
    with np.errstate(over="ignore"):
        return [arrays[0] * arrays[0] / arrays[0].dtype.type(1e30)]


def test_another_program_may_overflow_in_the_same_dtype():
    """Infinity is right if the other program computes it in its own dtypes."""
    inputs = [one([1e25, 1, 2])]
    (output,) = square_over(inputs)
    assert np.isinf(output[0])
    assert judged(square_over, inputs, output, against=square_over).reason == ""


def test_an_element_whose_reference_is_infinite_is_compared_with_the_rounded_one():
    """A square that underflows to 0 only in float32 decides between 5 and infinity."""

    def guarded(arrays: Sequence[Array]) -> list[Array]:
        x = arrays[0]
        return [np.where(x * x == 0, 5, np.where(x < 0.5, np.inf, 1 / x))]

    inputs = [one([1e-30, 1, 2, 4])]
    assert judged(guarded, inputs, one([5, 1, 0.5, 0.25])).reason == ""
    assert judged(guarded, inputs, one([6, 1, 0.5, 0.25])).reason.startswith("the error is 1, ")
    assert judged(guarded, inputs, one([5, 1, 0.5, 0.26])).reason.startswith("the error is 0.01, ")


@pytest.mark.parametrize(
    ("dtype", "huge"), [(np.float16, 6e4), (bfloat16, 3e38), (np.float32, 1e30)]
)
@pytest.mark.parametrize("against", [False, True])
def test_an_element_that_overflows_does_not_widen_the_tolerance(
    dtype: Any, huge: float, against: bool
):
    """The square exceeds the largest number of the dtype, and its rounding error does, too."""

    def square(arrays: Sequence[Array]) -> list[Array]:
        with np.errstate(over="ignore"):
            return [arrays[0] * arrays[0]]

    inputs = [np.array([huge, 1, 2], dtype)]
    right, wrong = (np.array([np.inf, 1, four], dtype) for four in (4, 5))
    other = square if against else None
    assert judged(square, inputs, right, dtype=dtype, against=other).reason == ""
    comparison = judged(square, inputs, wrong, dtype=dtype, against=other)
    assert comparison.reason.startswith("the error is 1, ")


def test_integers_must_be_equal():
    inputs = [np.arange(4)]
    assert judged(double, inputs, np.array([0, 2, 4, 6])).reason == ""
    assert judged(double, inputs, np.array([0, 2, 4, 7])).reason != ""


def test_large_integers_are_distinguished():
    """The two integers are equal in float64."""
    inputs = [np.array([2**60])]
    assert judged(double, inputs, np.array([2**61])).reason == ""
    assert judged(double, inputs, np.array([2**61 + 1])).reason == "the error is 1, more than 0"


def test_a_bool_may_be_the_exact_one_or_pytorchs():
    """A third times 3 is below 1 in one of the two."""

    def below(arrays: Sequence[Array]) -> list[Array]:
        return [arrays[0] * arrays[0].dtype.type(3) < 1]

    inputs = [one([1 / 3, 0.1, 0.9])]
    exact, rounded = below([inputs[0].astype(np.float64)])[0], below(inputs)[0]
    for output in (exact, rounded):
        assert judged(below, inputs, output, dtype=np.bool_).reason == ""
    assert judged(below, inputs, ~rounded & ~exact, dtype=np.bool_).reason != ""


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_next_to_zero_the_spacing_counts(dtype: Any):
    """Subnormal numbers are further apart than the roundoff of the largest of them."""
    smallest = np.finfo(dtype).smallest_subnormal
    inputs, output = (
        [np.array([3, 5, 8], dtype) * smallest],
        np.array([6, 11, 16], dtype) * smallest,
    )
    assert judged(double, inputs, output, dtype=dtype).reason == ""
    assert judged(double, inputs, output * dtype(2), dtype=dtype).reason != ""


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, bfloat16])
def test_an_output_must_have_the_dtype_that_it_should(dtype: Any):
    comparison = judged(double, [one([1, 2, 3])], np.array([2, 4, 6], dtype))
    assert comparison.reason == f"it is {np.dtype(dtype)}, should be float32"


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1, 3)])
def test_an_output_must_have_the_shape_that_it_should(shape: tuple[int, ...]):
    """NumPy would broadcast an output of this shape."""
    comparison = judged(double, [one([1, 2, 3])], one([2, 4, 6]).reshape(shape))
    assert comparison.reason == f"it is {list(shape)}, should be [3]"


DOUBLE = """
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  loop.launch @double(%x) -> (%y) : (memref<4xf32>) -> (memref<4xf32>)
  func.return %y : memref<4xf32>
}
kernel.func grid 1 block 4 @double(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<4xf32>
  %0 = arith.addf %v, %v : f32
  loop.store %0, %out[%t] : memref<4xf32>
}
"""


@pytest.mark.parametrize("large", [1e9, -3e38, 1e-20])
def test_an_element_is_not_lost_beside_a_larger_one(large: float):
    """The error allowed for the large element does not hide errors of others."""
    kernel_ir = Parser(context(), DOUBLE).parse_module()
    inputs = [one([large / 2, 1e-3, 2e-30, 3])]
    right = inputs[0] * np.float32(2)
    assert judged(double, inputs, right, kernel_ir).reason == ""
    for element, wrong in ((1, 0.0), (1, -2e-3), (2, 0.0), (2, 5e-30), (3, 6.01)):
        output = right.copy()
        output[element] = wrong
        comparison = judged(double, inputs, output, kernel_ir)
        assert comparison.reason.startswith((f"element [{element}] is {wrong:g}", "the error is"))


def test_an_element_that_the_kernels_lose_by_rounding_is_right():
    """The value of 3 after adding 1e9 depends on the order of the sum in Kernel IR."""
    order = DOUBLE.replace(
        "%0 = arith.addf %v, %v : f32",
        """%c = arith.constant 1.0e+09 : f32
      %a = arith.addf %v, %c : f32
      %b = arith.subf %a, %c : f32
      %0 = arith.addf %b, %v : f32""",
    )
    inputs = [one([1e9, 1, 2, 3])]
    output = one([2e9, 1, 2, 3])
    assert judged(double, inputs, output, Parser(context(), order).parse_module()).reason == ""
    plain = Parser(context(), DOUBLE).parse_module()
    assert judged(double, inputs, output, plain).reason == "element [1] is 1, should be 2"


def test_empty_arrays_are_right():
    assert judged(double, [one([])], one([])).reason == ""
