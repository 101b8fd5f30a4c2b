# SPDX-License-Identifier: Apache-2.0
"""Functions, calls and launches in the interpreter, and arguments that do not fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.interpreters import interpret, interpret_kernel
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]

KERNEL = """
loop.kernel @double(%x: memref<5xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %x[%i] : memref<5xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i] : memref<5xf32>
  }
}"""

ALLOC = "memref.alloc() : memref<5xf32>"
LAUNCH = "(memref<5xf32>) -> (memref<5xf32>)"


def test_launches_run_in_order(parse: Parse, rand: Rand) -> None:
    module = parse(f"""
      func.func @main(%x: memref<5xf32>) -> (memref<5xf32>, memref<5xf32>) {{
        %a = {ALLOC}
        loop.launch @double(%x) -> (%a) : {LAUNCH}
        %b = {ALLOC}
        loop.launch @double(%a) -> (%b) : {LAUNCH}
        loop.launch @double(%b) -> (%a) : {LAUNCH}
        memref.dealloc %b : memref<5xf32>
        func.return %a, %x : memref<5xf32>, memref<5xf32>
      }}
      {KERNEL}""")
    x = rand(5)
    a, same = interpret(module, x)
    np.testing.assert_array_equal(a, 8 * x)
    np.testing.assert_array_equal(same, x)
    same[:] = 0
    assert x.all()  # a result is never a view of an argument


def chain(*offsets: int) -> str:
    """Return two launches with buffers at `offsets`, and the second one's result."""
    a, b = (f"memref.alloc() {{plan.offset = {offset}}} : memref<5xf32>" for offset in offsets)
    return f"""
      func.func @main(%x: memref<5xf32>) -> memref<5xf32> {{
        %a = {a}
        loop.launch @double(%x) -> (%a) : {LAUNCH}
        %b = {b}
        loop.launch @double(%a) -> (%b) : {LAUNCH}
        loop.launch @double(%a) -> (%b) : {LAUNCH}
        func.return %b : memref<5xf32>
      }}
      {KERNEL}"""


def test_buffers_with_places(parse: Parse, rand: Rand) -> None:
    x = rand(5)
    (result,) = interpret(parse(chain(256, 0)), x)
    np.testing.assert_array_equal(result, 4 * x)
    with pytest.raises(InterpreterError, match="%b is written where %a lies"):
        interpret(parse(chain(256, 256)), x)
    with pytest.raises(VerifyException, match=r"plan.offset is 8 : i64, but .* multiple of 256"):
        interpret(parse(chain(256, 8)), x)


def test_overwritten_buffers_are_not_read(parse: Parse, rand: Rand) -> None:
    module = parse(f"""
      func.func @main(%x: memref<5xf32>) -> memref<5xf32> {{
        %a = memref.alloc() {{plan.offset = 0}} : memref<5xf32>
        %b = memref.alloc() {{plan.offset = 0}} : memref<5xf32>
        loop.launch @double(%x) -> (%a) : {LAUNCH}
        loop.launch @double(%x) -> (%b) : {LAUNCH}
        %c = {ALLOC}
        loop.launch @double(%a) -> (%c) : {LAUNCH}
        func.return %c : memref<5xf32>
      }}
      {KERNEL}""")
    with pytest.raises(InterpreterError, match="%a is used after %b overwrote its memory"):
        interpret(module, rand(5))


def test_calls(parse: Parse, rand: Rand) -> None:
    module = parse("""
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0, %1 = func.call @both(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
        %2, %3 = func.call @both(%1) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
        %4 = prim.elementwise add(%0, %3) : tensor<3xf32>
        func.return %4 : tensor<3xf32>
      }
      func.func private @both(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
        %0 = prim.elementwise neg(%x) : tensor<3xf32>
        %1 = prim.elementwise exp(%x) : tensor<3xf32>
        func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
      }""")
    x = rand(3)
    (result,) = interpret(module, x)
    np.testing.assert_allclose(result, -x + np.exp(np.exp(x)), rtol=1e-6)


def test_a_kernel_by_itself(parse: Parse, rand: Rand) -> None:
    module = parse(KERNEL)
    x = rand(5)
    assert module.body.block.first_op is not None
    for result in (
        interpret(module, x, function="double"),
        interpret_kernel(module.body.block.first_op, [x]),
    ):
        np.testing.assert_array_equal(result, [2 * x])


def test_dtype_widens_inputs_constants_and_results(parse: Parse) -> None:
    module = parse("""
      func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        %c = prim.constant 1.0 : f32 -> tensor<1xf32>
        %0 = prim.elementwise add(%x, %c) : tensor<1xf32>
        func.return %0 : tensor<1xf32>
      }""")
    x = np.array([1e-12])
    (wide,) = interpret(module, x, dtype=np.float64)
    (narrow,) = interpret(module, x.astype(np.float32))
    assert (wide[0], wide.dtype) == (1 + 1e-12, np.float64)
    assert (narrow[0], narrow.dtype) == (1, np.float32)


WRONG_ARGUMENTS: dict[str, tuple[list[NDArray[Any]], str]] = {
    "too few": ([], r"@double takes 1 argument, got 0"),
    "too many": ([np.zeros(5, np.float32)] * 2, r"@double takes 1 argument, got 2"),
    "shape": (
        [np.zeros((5, 1), np.float32)],
        r"argument 0 of @double has shape \(5, 1\), expected \(5,\)",
    ),
    "dtype": ([np.zeros(5)], r"argument 0 of @double has dtype float64, expected float32"),
    "integers": ([np.zeros(5, int)], r"argument 0 of @double has dtype int64, expected float32"),
}


@pytest.mark.parametrize("case", WRONG_ARGUMENTS)
def test_wrong_arguments(parse: Parse, case: str) -> None:
    arrays, message = WRONG_ARGUMENTS[case]
    with pytest.raises(UsageError, match=message):
        interpret(parse(KERNEL), *arrays, function="double")
    main = (
        "func.func @double(%x: tensor<5xf32>) -> tensor<5xf32> { func.return %x : tensor<5xf32> }"
    )
    with pytest.raises(UsageError, match=message):
        interpret(parse(main), *arrays, function="double")


def main(body: str, result: str = "memref<5xf32>") -> str:
    """Return a @main over one buffer, and a kernel to launch."""
    return f"func.func @main(%x: memref<5xf32>) -> {result} {{\n{body}\n}}\n{KERNEL}"


WRONG_MODULES: dict[str, tuple[str, type[TilewrightError], str]] = {
    "a missing function": (KERNEL, UsageError, r"the module has no @main \(it has @double\)"),
    "an empty module": (
        "builtin.module {}",
        UsageError,
        r"the module has no @main \(it has no symbols\)",
    ),
    "a launch of nothing written": (
        main(
            f"%a = {ALLOC}\n %b = {ALLOC}\n loop.launch @double(%b) -> (%a) : {LAUNCH}\n"
            "func.return %a : memref<5xf32>"
        ),
        InterpreterError,
        r"@main: 'loop.launch .*': %b is used before anything is written to it",
    ),
    "a result that is never written": (
        main(f"%a = {ALLOC}\n func.return %a : memref<5xf32>"),
        InterpreterError,
        r"@main: .* result 0 is returned before anything is written to it",
    ),
    "a launch of a function": (
        main("loop.launch @main(%x) -> () : (memref<5xf32>) -> ()\nfunc.return %x : memref<5xf32>"),
        UnsupportedError,
        r"@main is not a kernel that can be interpreted",
    ),
    "an op of another level": (
        main(
            "%c = arith.constant 0 : index\n %0 = memref.load %x[%c] : memref<5xf32>\n"
            "func.return %0 : f32",
            "f32",
        ),
        UnsupportedError,
        r"@main: '%0 = memref.load .*': the interpreter does not support 'memref.load' here",
    ),
    "a function that calls itself": (
        main(
            "%0 = func.call @main(%x) : (memref<5xf32>) -> memref<5xf32>\n"
            "func.return %0 : memref<5xf32>"
        ),
        InterpreterError,
        r"the function calls itself and would never return",
    ),
    "a shape that is not known": (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { func.return %x : tensor<?xf32> }",
        UnsupportedError,
        r"static shapes, not tensor<\?xf32>",
    ),
    "an element type that NumPy lacks": (
        "func.func @main(%x: tensor<5xf80>) -> tensor<5xf80> { func.return %x : tensor<5xf80> }",
        UnsupportedError,
        r"do not support elements of type f80",
    ),
    "a function without a body": (
        "func.func private @main(tensor<5xf32>) -> tensor<5xf32>",
        UnsupportedError,
        r"runs functions with a body of one block",
    ),
}


@pytest.mark.parametrize("case", WRONG_MODULES)
def test_wrong_module(parse: Parse, rand: Rand, case: str) -> None:
    text, error, message = WRONG_MODULES[case]
    with pytest.raises(error, match=message):
        interpret(parse(text), rand(5))


def test_errors_name_the_source_location(parse: Parse, rand: Rand) -> None:
    text = KERNEL.replace("%x[%i]", "%x[%i + 1]").replace(
        "loop.load %x[%i + 1] : memref<5xf32>",
        'loop.load %x[%i + 1] : memref<5xf32> loc("net.py":7:3)',
    )
    with pytest.raises(InterpreterError, match=r"net\.py:7:3: @double: '.*'.* out of bounds"):
        interpret(parse(text), rand(5), function="double")


def test_interpret_kernel_takes_kernels_only(parse: Parse) -> None:
    module = parse("func.func private @f()")
    assert module.body.block.first_op is not None
    with pytest.raises(UnsupportedError, match=r"'func.func' is not a kernel"):
        interpret_kernel(module.body.block.first_op, [])
