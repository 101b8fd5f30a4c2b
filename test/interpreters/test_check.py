# SPDX-License-Identifier: Apache-2.0
"""`--check=each`: equal programs, the pass it blames for a change, and notes on skipped checks."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import host
from tilewright.interpreters.check import CheckReport, PassCheckError, check_pass
from tilewright.interpreters.random_runs import RandomRuns

Parse = Callable[[str], ModuleOp]

ADD = """
loop.kernel @add(%x: memref<5x9xf32>, %y: memref<9xf32>) -> (%out: memref<5x9xf32>) {
  loop.for %i in 5, %j in 9 {
    %0 = loop.load %x[%i, %j] : memref<5x9xf32>
    %1 = loop.load %y[%j] : memref<9xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%i, %j] : memref<5x9xf32>
  }
}
"""

LOG_SUM = """
loop.kernel @log_sum(%x: memref<40xf32>) -> (%out: memref<1xf32>) {
  %s = loop.reduce %k in 40 with add {
    %0 = loop.load %x[%k] : memref<40xf32>
    %1 = math.log %0 : f32
    loop.yield %1 : f32
  } : f32
  loop.for %i in 1 {
    loop.store %s, %out[%i] : memref<1xf32>
  }
}
"""

MAIN = """
func.func @main(%x: memref<5x9xf32>, %y: memref<9xf32>) -> memref<5x9xf32> {
  %0 = memref.alloc() : memref<5x9xf32>
  loop.launch @add(%x, %y) -> (%0)
    : (memref<5x9xf32>, memref<9xf32>) -> (memref<5x9xf32>)
  func.return %0 : memref<5x9xf32>
}
"""


def check(parse: Parse, before: str, after: str) -> CheckReport:
    return check_pass(parse(before), parse(after), "my-pass")


def test_equal_kernels(parse: Parse) -> None:
    swapped = ADD.replace("addf %0, %1", "addf %1, %0")
    assert check(parse, ADD + LOG_SUM, swapped + LOG_SUM) == CheckReport(("add", "log_sum"), ())


def interpretations(monkeypatch: pytest.MonkeyPatch) -> Mock:
    counted = Mock(wraps=host.interpret_fitting)
    monkeypatch.setattr("tilewright.interpreters.random_runs.interpret_fitting", counted)
    return counted


def test_an_unchanged_program_is_run_once(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    interpret = interpretations(monkeypatch)
    text = ADD.replace("5x9", "5x7").replace("<9x", "<7x").replace("%j in 9", "%j in 7")
    assert check(parse, text, text) == CheckReport(("add",), ())
    assert interpret.call_count == 1


def test_results_of_one_pass_are_reused_for_the_next(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpret, memory = interpretations(monkeypatch), RandomRuns()

    def check(before: str, after: str) -> None:
        check_pass(parse(before), parse(after), "my-pass", runs=memory)

    sum = "%2 = arith.addf %0, %1 : f32"
    first = ADD.replace(sum, "%2 = arith.subf %0, %1 : f32")
    then = ADD.replace(sum, "%3 = arith.negf %1 : f32 %2 = arith.addf %0, %3 : f32")
    check(first, then)
    check(then, first)
    assert interpret.call_count == 2
    with pytest.raises(PassCheckError, match="pass 'my-pass' changed what @add computes"):
        check(first, ADD)
    assert interpret.call_count == 3  # of the three distinct programs
    check(LOG_SUM, LOG_SUM)
    check(first, first)
    assert interpret.call_count == 3 + 2 + 1  # NaNs: twice; others are evicted


def test_an_unchanged_kernel_is_run_once(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    interpret, beside = interpretations(monkeypatch), ADD.replace("@add", "@beside")
    sum = "%2 = arith.addf %0, %1 : f32"
    first = ADD.replace(sum, "%2 = arith.subf %0, %1 : f32")
    then = ADD.replace(sum, "%3 = arith.negf %1 : f32 %2 = arith.addf %0, %3 : f32")
    report = check_pass(parse(beside + first), parse(beside + then), "my-pass")
    assert report.compared == ("beside", "add")
    assert interpret.call_count == 3


def test_main_stands_for_its_kernels(parse: Parse) -> None:
    assert check(parse, MAIN + ADD, MAIN + ADD) == CheckReport(("main",), ())


def test_another_order_of_a_sum_is_the_same_program(parse: Parse) -> None:
    chunked = LOG_SUM.replace(
        "%s = loop.reduce %k in 40 with add {",
        "%s = loop.reduce %c in 14 with add { %t = loop.reduce %k in 3 with add {",
    )
    chunked = chunked.replace("%x[%k] :", "%x[%c * 3 + %k] where [39 - %c * 3 - %k] :")
    chunked = chunked.replace(
        "loop.yield %1 : f32",
        "loop.yield %1 where [39 - %c * 3 - %k] : f32 } : f32\nloop.yield %t : f32",
    )
    assert check(parse, LOG_SUM, chunked) == CheckReport(("log_sum",), ())


def test_a_wrong_element_is_named(parse: Parse) -> None:
    wrong = ADD.replace("%y[%j]", "%y[8 - %j]")
    with pytest.raises(PassCheckError) as error:
        check(parse, ADD, wrong)
    message = str(error.value)
    assert message.startswith("pass 'my-pass' changed what @add computes: element [")
    assert "40 element(s) differ" in message  # all but the middle column


def test_the_kernel_to_blame_is_named(parse: Parse) -> None:
    with pytest.raises(PassCheckError, match=r"what @main computes.*kernel @add alone shows it"):
        check(parse, MAIN + ADD, MAIN + ADD.replace("addf", "subf"))


def test_nan_does_not_hide_a_mistake(parse: Parse) -> None:
    # The sum of the logarithms of normal numbers is NaN before and after; positive numbers show it.
    with pytest.raises(PassCheckError, match="what @log_sum computes"):
        check(parse, LOG_SUM, LOG_SUM.replace("loop.reduce %k in 40", "loop.reduce %k in 39"))


LARGE = """
func.func @main(%x: tensor<3xi64>) -> tensor<3xi64> {
  %large = prim.constant 1152921504606846976 : i64 -> tensor<3xi64>
  %0 = prim.elementwise add(%x, %large) : tensor<3xi64>
  func.return %0 : tensor<3xi64>
}
"""


def test_large_integers_that_differ_are_distinguished(parse: Parse) -> None:
    """2^60 and 2^60 + 1 are equal in float64."""
    with pytest.raises(PassCheckError, match="3 element"):
        check(parse, LARGE, LARGE.replace("6976", "6977"))


def test_a_difference_in_float32_rounding_only_is_none(parse: Parse) -> None:
    # 1/x for a division: float32 differs in the last bit, float64 hardly.
    before = ADD.replace("arith.addf", "arith.divf")
    after = ADD.replace(
        "%2 = arith.addf %0, %1 : f32",
        "%c = arith.constant 1.0 : f32\n%r = arith.divf %c, %1 : f32\n%2 = arith.mulf %0, %r : f32",
    )
    assert check(parse, before, after).compared == ("add",)


def test_a_program_that_becomes_meaningless(parse: Parse) -> None:
    with pytest.raises(PassCheckError, match=r"after pass 'my-pass' the program is wrong: @add: "):
        check(parse, ADD, ADD.replace("%y[%j]", "%y[%j + 1]"))
    with pytest.raises(PassCheckError, match=r"before pass 'my-pass' the program is wrong: @add"):
        check(parse, ADD.replace("%y[%j]", "%y[%j + 1]"), ADD)


def test_a_changed_signature(parse: Parse) -> None:
    swapped = ADD.replace(
        "(%x: memref<5x9xf32>, %y: memref<9xf32>)", "(%y: memref<9xf32>, %x: memref<5x9xf32>)"
    )
    with pytest.raises(PassCheckError, match="changed the signature of @add"):
        check(parse, ADD, swapped)


TRANSPOSED = """
func.func @main(%w: tensor<4x2x3xf32>) -> tensor<3x4x2xf32> {
  %0 = prim.index_map %w by affine_map<(d0, d1, d2) -> (d1, d2, d0)>
    : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  func.return %0 : tensor<3x4x2xf32>
}
"""


def at_load(shape: str, layout: str) -> str:
    """Return a function that has its argument permuted at load."""
    return f"""
      func.func @main(%w: tensor<{shape}xf32> {{torch.layout = affine_map<{layout}>}})
          -> tensor<{shape}xf32> {{
        func.return %w : tensor<{shape}xf32>
      }}
    """


def test_a_layout_at_load_is_part_of_the_signature(parse: Parse) -> None:
    right = at_load("3x4x2", "(d0, d1, d2) -> (d1, d2, d0)")
    assert check(parse, TRANSPOSED, right).compared == ("main",)
    with pytest.raises(PassCheckError, match="changed the signature of @main"):
        check(parse, TRANSPOSED, at_load("3x4x2", "(d0, d1, d2) -> (d2, d0, d1)"))


def test_a_wrong_layout_of_the_right_shape(parse: Parse) -> None:
    square = TRANSPOSED.replace("4x2x3", "3x3x3").replace("3x4x2", "3x3x3")
    wrong = at_load("3x3x3", "(d0, d1, d2) -> (d2, d0, d1)")
    with pytest.raises(PassCheckError, match="changed what @main computes"):
        check(parse, square, wrong)


def test_skipped_checks_are_reported(parse: Parse) -> None:
    # A kernel that was removed, an op that cannot be run, and too much work.
    report = check(parse, ADD + LOG_SUM, ADD)
    assert report.compared == ("add",)
    assert report.notes == ("pass 'my-pass' is not checked at @log_sum: the pass removed it",)

    power = "%c = arith.constant 2 : i32 %2 = math.fpowi %0, %c : f32, i32"
    unknown = ADD.replace("%2 = arith.addf %0, %1 : f32", power)
    (note,) = check(parse, ADD, unknown).notes
    assert "not checked at @add" in note
    assert "does not support 'math.fpowi'" in note

    report = check_pass(parse(ADD), parse(ADD), "my-pass", max_work=100)
    assert report.compared == ()
    assert report.notes == (
        "pass 'my-pass' is not checked at @add: "
        "about 1.8e+02 scalar operations are too many; use smaller shapes",
    )


def test_equal_results_with_nan_are_found_equal_at_once(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "tilewright.interpreters.differences.distances"
    monkeypatch.setattr(slow, Mock(side_effect=AssertionError("takes ten times as long")))
    log_of_sum = ADD.replace("loop.store %2", "%3 = math.log %2 : f32\n    loop.store %3")
    swapped = log_of_sum.replace("addf %0, %1", "addf %1, %0")
    assert check(parse, log_of_sum, swapped) == CheckReport(("add",), ())


SCALED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = torch.mul.Scalar %x other {other} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""
LOWERED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %c = prim.constant {constant} : f32 -> tensor<4xf32>
  %y = prim.elementwise mul(%x, %c) : tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""


def test_a_number_is_rounded_to_the_type_of_the_program(parse: Parse) -> None:
    before = SCALED.format(other="1.0e+300")
    assert check(parse, before, LOWERED.format(constant="0x7f800000")).compared == ("main",)


def test_a_wrong_constant_is_found_beside_one_that_is_rounded(parse: Parse) -> None:
    with pytest.raises(PassCheckError, match="4 element"):
        check(parse, SCALED.format(other="0.1"), LOWERED.format(constant="1.00001e-01"))
