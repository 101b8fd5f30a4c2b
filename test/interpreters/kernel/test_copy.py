# SPDX-License-Identifier: Apache-2.0
"""Vector copies in Kernel IR: their contents, and bounds, alignment and masks of whole vectors."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]


def kernel(body: str, *, x: str = "96xf32", out: str = "96xf32", block: int = 32) -> str:
    """Return a kernel of one block that reads %x and writes %out, both aligned."""
    return f"""
      kernel.func grid 1 block {block} @k(%x: memref<{x}> {{plan.align = 16 : i64}})
          -> (%out: memref<{out}> {{plan.align = 16 : i64}}) {{
        %t = kernel.thread_id
        %zero = arith.constant 0.0 : f32
        {body}
      }}"""


def registers(name: str, type: str = "4xf32") -> str:
    return f"%{name} = kernel.registers : memref<{type}, 5>\n"


WIDTHS = [("f32", 1), ("f32", 2), ("f32", 4), ("f16", 2), ("f16", 8), ("i8", 4), ("i64", 2)]


@pytest.mark.parametrize(("element", "width"), WIDTHS)
def test_a_vector_through_registers(parse: Parse, element: str, width: int) -> None:
    size = 32 * width
    x, r = f"memref<{size}x{element}>", f"memref<{width}x{element}, 5>"
    module = parse(
        kernel(
            f"""{registers("r", f"{width}x{element}")}
            kernel.copy %x[%t * {width}] to %r[0] width {width} : {x}, {r}
            kernel.copy %r[0] to %out[{size - width} - %t * {width}] width {width} : {r}, {x}""",
            x=f"{size}x{element}",
            out=f"{size}x{element}",
        )
    )
    dtypes = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i64": np.int64}
    data = np.arange(size).astype(dtypes[element])
    (result,) = interpret(module, data, function="k")
    np.testing.assert_array_equal(result, data.reshape(32, width)[::-1].reshape(-1))


def test_a_vector_of_a_column(parse: Parse) -> None:
    # the innermost axis has one step: elements are contiguous along the other axis
    x = "memref<128x1xf32>"
    module = parse(
        kernel(
            f"""{registers("r")}
            kernel.copy %x[%t * 4, 0] to %r[0] width 4 : {x}, memref<4xf32, 5>
            kernel.copy %r[0] to %out[124 - %t * 4, 0] width 4 : memref<4xf32, 5>, {x}""",
            x="128x1xf32",
            out="128x1xf32",
        )
    )
    data = np.arange(128, dtype=np.float32).reshape(128, 1)
    (result,) = interpret(module, data, function="k")
    np.testing.assert_array_equal(result, data.reshape(32, 4)[::-1].reshape(128, 1))


# Layouts with aligned vectors of 4 along one axis of a slab of 16x32, and that axis.
LAYOUTS = [
    ("", 1),
    ("#tile.layout<pad [0, 4]>, ", 1),
    ("#tile.layout<order [1, 0]>, ", 0),
    ("#tile.layout<order [1, 0], pad [4, 0]>, ", 0),
    ("#tile.layout<inner 16>, ", 1),
    ("#tile.layout<inner 16, swizzle 64>, ", 1),
    ("#tile.layout<swizzle 128>, ", 1),
]


@pytest.mark.parametrize(("layout", "axis"), LAYOUTS)
def test_the_layout_changes_no_value(parse: Parse, rand: Rand, layout: str, axis: int) -> None:
    # 128 threads write vectors along the innermost axis, and read along the rows.
    place = ["%t mod 4 * 4, %t floordiv 4", "%t floordiv 8, %t mod 8 * 4"][axis]
    slab, r, x = f"memref<16x32xf32, {layout}3>", "memref<4xf32, 5>", "memref<128x4xf32>"
    module = parse(
        kernel(
            f"""{registers("r")}
            %s = kernel.shared : {slab}
            kernel.copy %x[%t, 0] to %r[0] width 4 : {x}, {r}
            kernel.copy %r[0] to %s[{place}] width 4 : {r}, {slab}
            kernel.barrier
            kernel.unroll %i in 4 {{
              %v = loop.load %s[%t floordiv 8, %t mod 8 * 4 + %i] : {slab}
              loop.store %v, %out[%t floordiv 8, %t mod 8 * 4 + %i] : memref<16x32xf32>
            }}""",
            x="128x4xf32",
            out="16x32xf32",
            block=128,
        )
    )
    x_data = rand(128, 4)
    (result,) = interpret(module, x_data, function="k")
    expected = x_data.reshape(16, 32) if axis == 1 else x_data.reshape(32, 16).T
    np.testing.assert_array_equal(result, expected)


def test_a_vector_read_from_shared_memory(parse: Parse, rand: Rand) -> None:
    slab, r, x = "memref<128xf32, 3>", "memref<4xf32, 5>", "memref<128xf32>"
    module = parse(
        kernel(
            f"""{registers("r")} {registers("q")}
            %s = kernel.shared : {slab}
            kernel.copy %x[%t * 4] to %r[0] width 4 : {x}, {r}
            kernel.copy %r[0] to %s[%t * 4] width 4 : {r}, {slab}
            kernel.barrier
            kernel.copy %s[124 - %t * 4] to %q[0] width 4 : {slab}, {r}
            kernel.copy %q[0] to %out[%t * 4] width 4 : {r}, {x}""",
            x="128xf32",
            out="128xf32",
        )
    )
    x_data = rand(128)
    (result,) = interpret(module, x_data, function="k")
    np.testing.assert_array_equal(result, x_data.reshape(32, 4)[::-1].reshape(-1))


def test_where_the_mask_fails_registers_get_zeros_and_outputs_nothing(
    parse: Parse, rand: Rand
) -> None:
    # 100 elements are 25 vectors; the other 7 threads count zeros.
    r, x = "memref<4xf32, 5>", "memref<100xf32>"
    module = parse(
        kernel(
            f"""{registers("r")}
            kernel.copy %x[%t * 4] to %r[0] width 4 where [96 - %t * 4] : {x}, {r}
            kernel.unroll %i in 4 {{
              %v = loop.load %r[%i] : {r}
              %w = arith.addf %v, %v : f32
              loop.store %w, %r[%i] : {r}
            }}
            kernel.copy %r[0] to %out[%t * 4] width 4 where [96 - %t * 4] : {r}, {x}""",
            x="100xf32",
            out="100xf32",
        )
    )
    x_data = rand(100)
    (result,) = interpret(module, x_data, function="k", dtype=np.float64)
    np.testing.assert_array_equal(result, 2 * x_data.astype(np.float64))


@pytest.mark.parametrize("size", [1, 3, 30, 31, 127])
def test_masked_tails_of_odd_sizes(parse: Parse, rand: Rand, size: int) -> None:
    """
    Whole vectors have width 4, the remaining elements are copied singly; the slab's rest is zero.
    """
    whole, slab = size // 4 * 4, "memref<1x128xf32, #tile.layout<slots>, 3>"
    x = f"memref<{size}xf32>"
    vectors = f"""kernel.copy_async %x[%t * 4] to %s[0, %t * 4] width 4 where [{whole - 4} - %t * 4]
              : {x}, {slab}"""
    single = f"""kernel.copy_async %x[{whole} + %t] to %s[0, {whole} + %t] width 1
              where [{size - whole - 1} - %t] : {x}, {slab}"""
    module = parse(
        kernel(
            f"""%c0 = arith.constant 0 : index
            %s = kernel.shared : {slab}
            %ring = kernel.ring bytes 512 : !kernel.ring<1, cp_async>
            {vectors if whole else ""}
            kernel.ring_commit %ring, %c0 : !kernel.ring<1, cp_async>
            kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, cp_async>
            %tail = loop.predicate [3 - %t] : i1
            %c1 = arith.constant 1 : index
            scf.if %tail {{ {single} }}
            kernel.ring_commit %ring, %c1 : !kernel.ring<1, cp_async>
            kernel.ring_wait %ring, %c1 pending 0 : !kernel.ring<1, cp_async>
            kernel.unroll %i in 4 {{
              %v = loop.load %s[0, %i * 32 + %t] where [{whole + 3} - %i * 32 - %t] : {slab}
              loop.store %v, %out[%i * 32 + %t] : memref<128xf32>
            }}""",
            x=f"{size}xf32",
            out="128xf32",
        )
    )
    x_data = rand(size)
    (result,) = interpret(module, x_data, function="k")
    np.testing.assert_array_equal(result, np.pad(x_data, (0, 128 - size)))


def test_a_copy_in_a_branch_and_in_a_nest(parse: Parse, rand: Rand) -> None:
    r, x = "memref<2x2xf32, 5>", "memref<128xf32>"
    module = parse(
        kernel(
            f"""{registers("r", "2x2xf32")}
            %low = loop.predicate [15 - %t] : i1
            scf.if %low {{
              kernel.unroll %i in 2 {{
                kernel.copy %x[%i * 64 + %t * 2] to %r[%i, 0] width 2 : {x}, {r}
              }}
            }} else {{
              kernel.unroll %i in 2 {{
                kernel.copy %x[126 - %i * 64 - %t * 2] to %r[%i, 0] width 2 : {x}, {r}
              }}
            }}
            kernel.unroll %i in 2 {{
              kernel.copy %r[%i, 0] to %out[%i * 64 + %t * 2] width 2 : {r}, {x}
            }}""",
            x="128xf32",
            out="128xf32",
        )
    )
    x_data = rand(128)
    (result,) = interpret(module, x_data, function="k")
    t = np.arange(32)
    expected = np.empty(128, np.float32)
    for i in range(2):
        first = np.where(t < 16, i * 64 + t * 2, 126 - i * 64 - t * 2)
        for j in range(2):
            expected[i * 64 + t * 2 + j] = x_data[first + j]
    np.testing.assert_array_equal(result, expected)


TO = "to %r[0] width 4 : memref<96xf32>, memref<4xf32, 5>"
FROM = "%r[0] to %out[%t * 4] width 4 where [92 - %t * 4] : memref<4xf32, 5>, memref<96xf32>"
MASKED = "to %r[0] width 4 where [92 - %t * 4] : memref<96xf32>, memref<4xf32, 5>"
PADDED = "memref<4x32xf32, #tile.layout<pad [0, 1]>, 3>"
ZERO = """kernel.unroll %i in 4 {
  loop.store %zero, %r[%i] : memref<4xf32, 5>
}
"""

WRONG = {
    "the end of a vector is out of bounds": (
        f"{registers('r')} kernel.copy %x[%t * 4 - %t floordiv 24 * 2] {TO}",
        r"subscript 0 of %x is 94 to 97, out of bounds for an axis of size 96 .*mask the access",
    ),
    "the mask is dropped": (
        f"{registers('r')} kernel.copy %x[%t * 4] {TO}",
        r"subscript 0 of %x is 96 to 99, out of bounds",
    ),
    "a negative subscript": (
        f"{registers('r')} kernel.copy %x[%t * 4 - 4] {MASKED}",
        r"subscript 0 of %x is -4 to -1, out of bounds",
    ),
    "registers that the vector leaves": (
        "%r = kernel.registers : memref<6xf32, 5>\n"
        "kernel.copy %x[0] to %r[4] width 4 : memref<96xf32>, memref<6xf32, 5>",
        r"subscript 0 of %r is 4 to 7, out of bounds for an axis of size 6",
    ),
    "an address between vectors": (
        f"{registers('r')} kernel.copy %x[%t * 2] {TO}",
        r"byte 8 of %x is not a multiple of the 16 bytes that are .*2 element\(s\) at a time",
    ),
    "registers between vectors": (
        "%r = kernel.registers : memref<6xf32, 5>\n"
        "kernel.copy %x[%t * 2] to %r[1] width 2 : memref<96xf32>, memref<6xf32, 5>",
        r"byte 4 of %r is not a multiple of the 8 bytes",
    ),
    "padding that moves vectors": (
        f"""{registers("r")} {ZERO}
        %s = kernel.shared : {PADDED}
        kernel.copy %r[0] to %s[%t floordiv 8, %t mod 8 * 4] width 4
          : memref<4xf32, 5>, {PADDED}""",
        r"byte 132 of %s is not a multiple of the 16 bytes that are copied",
    ),
    "pieces that cut vectors": (
        f"""{registers("r")} {ZERO}
        %s = kernel.shared : memref<4x32xf32, #tile.layout<inner 2>, 3>
        kernel.copy %r[0] to %s[%t floordiv 8, %t mod 8 * 4] width 4
          : memref<4xf32, 5>, memref<4x32xf32, #tile.layout<inner 2>, 3>""",
        r"a vector of 4 elements crosses pieces of 2 elements",
    ),
    "registers that are never written": (
        f"{registers('r')} kernel.copy {FROM}",
        r"reads element \[0\], which nothing has written",
    ),
    "a store to an input": (
        f"{registers('r')} {ZERO} kernel.copy %r[0] to %x[%t * 4] width 4 where [92 - %t * 4] "
        ": memref<4xf32, 5>, memref<96xf32>",
        r"stores to %x, which is an input",
    ),
    "vectors that overlap": (
        f"{registers('r')} kernel.copy %x[%t * 4] {MASKED}\n"
        "kernel.copy %r[0] to %out[%t floordiv 2 * 4] width 4 : memref<4xf32, 5>, memref<96xf32>",
        r"element \[0\] is stored twice",
    ),
    "a vector of shared memory read without a barrier": (
        f"""{registers("r")} {registers("q")} kernel.copy %x[%t * 4] {MASKED}
        %s = kernel.shared : memref<128xf32, 3>
        kernel.copy %r[0] to %s[%t * 4] width 4 : memref<4xf32, 5>, memref<128xf32, 3>
        kernel.copy %s[124 - %t * 4] to %q[0] width 4 : memref<128xf32, 3>, memref<4xf32, 5>""",
        r"thread 0 reads element \[124\] while another thread writes it .*kernel.barrier",
    ),
    "shared memory overwritten without a barrier": (
        f"""{registers("r")} {registers("q")} kernel.copy %x[%t * 4] {MASKED}
        %s = kernel.shared : memref<128xf32, 3>
        kernel.copy %r[0] to %s[%t * 4] width 4 : memref<4xf32, 5>, memref<128xf32, 3>
        kernel.barrier
        kernel.copy %s[124 - %t * 4] to %q[0] width 4 : memref<128xf32, 3>, memref<4xf32, 5>
        kernel.copy %q[0] to %s[%t * 4] width 4 : memref<4xf32, 5>, memref<128xf32, 3>""",
        r"thread 0 writes element \[0\] while another thread uses it .*kernel.barrier",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_copy(parse: Parse, rand: Rand, case: str) -> None:
    body, message = WRONG[case]
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(kernel(body)), rand(96), function="k")


def test_an_argument_of_unknown_alignment(parse: Parse, rand: Rand) -> None:
    body = f"{registers('r')} kernel.copy %x[%t * 4] {MASKED}"
    module = parse(kernel(body).replace("{plan.align = 16 : i64}", ""))
    message = r"%x begins at a multiple of 4 bytes, but 16 bytes are copied .*plan.align = 16"
    with pytest.raises(InterpreterError, match=message):
        interpret(module, rand(96), function="k")


def test_the_kernel_without_a_mistake_is_right(parse: Parse, rand: Rand) -> None:
    body = f"{registers('r')} kernel.copy %x[%t * 4] {MASKED}\n kernel.copy {FROM}"
    x = rand(96)
    (result,) = interpret(parse(kernel(body)), x, function="k")
    np.testing.assert_array_equal(result, x)
