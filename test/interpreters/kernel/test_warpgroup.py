# SPDX-License-Identifier: Apache-2.0
"""Multiplications by warpgroups in Kernel IR, and in the simulator of the PTX that they become."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.matrix_sums import MatrixSums
from tilewright.passes.rewriting.launching import with_main

Parse = Callable[[str], ModuleOp]
DTYPES = {"bf16": np.dtype(ml_dtypes.bfloat16), "f16": np.dtype(np.float16)}

FENCES = "kernel.barrier\n kernel.proxy_fence\n kernel.group_fence"
END = "kernel.group_commit\n kernel.group_wait 0"


class Product(NamedTuple):
    """A product of 64 rows a warpgroup, and how its factors lie in shared memory."""

    columns: int = 32
    k: int = 32
    groups: int = 1
    element: str = "bf16"
    a: str = "swizzle 64"
    b: str = "swizzle 64"
    b_along_k: bool = False
    """True if %b is stored as columns x k."""

    @property
    def rows(self) -> int:
        return 64 * self.groups

    def kernel(self, before: str = FENCES, after: str = END, between: str = "") -> str:
        """Return a kernel that stages %x and %y and stores the product in %out."""
        rows, columns, k, element = self.rows, self.columns, self.k, self.element
        threads = 128 * self.groups
        y = (columns, k) if self.b_along_k else (k, columns)
        a, b = (
            f"memref<{m}x{n}x{element}, #tile.layout<{layout}>, 3>"
            for (m, n), layout in (((rows, k), self.a), (y, self.b))
        )
        x, y_type = f"memref<{rows}x{k}x{element}>", f"memref<{y[0]}x{y[1]}x{element}>"
        sums = f"memref<{columns // 8}x2x2xf32, 5>"
        row, in_warp = "%t floordiv 128 * 64", "(%t mod 32) floordiv 4"
        at_b = "%b[0, %k * 16] along [0, 1]" if self.b_along_k else "%b[%k * 16, 0] along [1, 0]"
        out = f"%t floordiv 32 * 16 + %rm * 8 + {in_warp}, %sn * 8 + %t mod 4 * 2 + %vn"

        def staged(name: str, source: str, shape: tuple[int, int], memory: str, slab: str) -> str:
            each = shape[0] * shape[1] // threads
            place = f"(%t * {each} + %i) floordiv {shape[1]}, (%t * {each} + %i) mod {shape[1]}"
            return f"""
            %{name} = kernel.shared : {slab}
            kernel.unroll %i in {each} {{
              %0 = loop.load %{source}[{place}] : {memory}
              loop.store %0, %{name}[{place}] : {slab}
            }}"""

        nest = f"kernel.unroll %sn in {columns // 8}, %rm in 2, %vn in 2"
        return f"""
        kernel.func grid 1 block {threads} @k(%x: {x}, %y: {y_type}) -> (
            %out: memref<{rows}x{columns}xf32>) {{
          %t = kernel.thread_id
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %steps = arith.constant {k // 16} : index
          {staged("a", "x", (rows, k), x, a)}
          {staged("b", "y", y, y_type, b)}
          %d = kernel.registers : {sums}
          {nest} {{
            %start = arith.constant 0.0 : f32
            loop.store %start, %d[%sn, %rm, %vn] : {sums}
          }}
          {before}
          scf.for %k = %zero to %steps step %one {{
            kernel.group_multiply m64nNk16_{element} columns {columns}
              %a[{row}, %k * 16] along [0, 1], {at_b}, %d[0, 0, 0] : {a}, {b}, {sums}
            {between}
          }}
          {after}
          {nest} {{
            %sum = loop.load %d[%sn, %rm, %vn] : {sums}
            loop.store %sum, %out[{out}] : memref<{rows}x{columns}xf32>
          }}
        }}"""

    def inputs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        random = np.random.default_rng(self.columns + self.k)
        y = (self.columns, self.k) if self.b_along_k else (self.k, self.columns)
        x, y = random.standard_normal((self.rows, self.k)), random.standard_normal(y)
        return x.astype(DTYPES[self.element]), y.astype(DTYPES[self.element])

    def exact(self, x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        wide = y.astype(np.float64)
        return x.astype(np.float64) @ (wide.T if self.b_along_k else wide)


PRODUCTS = [
    Product(),
    Product(element="f16", b_along_k=True, columns=8),
    Product(a="swizzle 128", k=64, b="inner 64, swizzle 128", columns=128),
    Product(a="inner 16, swizzle 32", b="inner 16, swizzle 32", columns=48),
    Product(a="inner 64, swizzle 128", k=128, b="inner 32, swizzle 64", columns=96),
    Product(a="order [1, 0], inner 64, swizzle 128", groups=2, element="f16"),
    Product(b_along_k=True, b="inner 16, swizzle 32", columns=24),
]


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_product_is_that_of_the_factors(parse: Parse, product: Product) -> None:
    x, y = product.inputs()
    (result,) = interpret(parse(product.kernel()), x, y, function="k")
    exact = product.exact(x, y)
    np.testing.assert_allclose(result, exact, rtol=0, atol=2.0**-20 * np.abs(exact).max())
    wide = x.astype(np.float64), y.astype(np.float64)
    (result,) = interpret(parse(product.kernel()), *wide, function="k", dtype=np.float64)
    np.testing.assert_allclose(result, exact, rtol=0, atol=1e-12)


@needs_nvrtc
@pytest.mark.parametrize("product", PRODUCTS)
def test_the_simulator_adds_the_same_sums(parse: Parse, product: Product) -> None:
    x, y = product.inputs()
    module = with_main(parse(product.kernel()))
    plan = plan_of(lower(module, "cuda", "sm_90a"))
    for sums in MatrixSums:
        (found,) = interpret(module, x, y, matrix_sums=sums)
        run = SimulatorBackend("sm_90a", matrix_sums=sums).run(plan, [x, y])
        np.testing.assert_array_equal(run.results[0].view(np.uint32), found.view(np.uint32))


ERRORS = [
    (FENCES.replace("kernel.proxy_fence", ""), END, "", "wrote with no proxy fence since"),
    (FENCES.replace("kernel.group_fence", ""), END, "", "without a fence since the last wait"),
    (FENCES.replace("kernel.barrier", ""), END, "", "while another thread writes it"),
    (FENCES, END.replace("kernel.group_commit", ""), "", "reads element [0, 0, 0], to which"),
    (FENCES, END.replace("wait 0", "wait 1"), "", "reads element [0, 0, 0], to which"),
    (FENCES, "kernel.group_commit", "", "reads element [0, 0, 0], to which"),
    (FENCES, END, "loop.store %x0, %a[0, 0] : A", "while another thread uses it"),
    (FENCES, END, "kernel.barrier\n loop.store %x0, %a[0, 1] : A", "%a is overwritten while"),
    (FENCES, END, "loop.store %f0, %d[0, 0, 0] : D", "to which a copy is under way"),
    (FENCES, END, "kernel.group_commit\n kernel.group_wait 0", "without a fence since"),
]


@pytest.mark.parametrize(("before", "after", "between", "message"), ERRORS)
def test_wrong_orders_are_found(
    parse: Parse, before: str, after: str, between: str, message: str
) -> None:
    product = Product()
    a, sums = "memref<64x32xbf16, #tile.layout<swizzle 64>, 3>", "memref<4x2x2xf32, 5>"
    constants = "%x0 = arith.constant 7.0 : bf16\n %f0 = arith.constant 0.0 : f32\n"
    between = between.replace(": A", f": {a}").replace(": D", f": {sums}")
    module = parse(product.kernel(constants + before, after, between))
    with pytest.raises(InterpreterError) as raised:
        interpret(module, *product.inputs(), function="k")
    assert message in str(raised.value)


def test_the_last_multiplication_is_waited_for(parse: Parse) -> None:
    product = Product()
    text = product.kernel(after="").replace("%d[%sn, %rm, %vn] : memref<4x2x2xf32, 5>\n", "", 0)
    start = text.rindex("kernel.unroll")
    module = parse(text[:start] + "}\n")
    with pytest.raises(InterpreterError, match="still under way when the kernel ends"):
        interpret(module, *product.inputs(), function="k")


PLACES = [
    ("%a[%t floordiv 128 * 64, %k * 16]", "%a[0, %k * 16 + 8]", "begins at 8 along axis 1"),
    ("%a[%t floordiv 128 * 64, %k * 16]", "%a[4, %k * 16]", "begins at 4 along axis 0"),
    ("%a[%t floordiv 128 * 64, %k * 16]", "%a[%t floordiv 64 * 8, 0]", "differ between"),
    ("%a[%t floordiv 128 * 64, %k * 16]", "%a[8, %k * 16]", "reaches beyond axis 0 of %a"),
    ("%b[%k * 16, 0]", "%b[%k * 32, 0]", "reaches beyond axis 0 of %b"),
]


@pytest.mark.parametrize(("right", "wrong", "message"), PLACES)
def test_matrices_begin_inside_of_their_slabs(
    parse: Parse, right: str, wrong: str, message: str
) -> None:
    product, text = Product(), Product().kernel()
    assert right in text
    with pytest.raises(InterpreterError) as raised:
        interpret(parse(text.replace(right, wrong)), *product.inputs(), function="k")
    assert message in str(raised.value)


def test_steps_of_a_nest_do_not_share_sums(parse: Parse) -> None:
    product = Product()
    text = product.kernel().replace(
        "scf.for %k = %zero to %steps step %one {", "kernel.unroll %k in 2 {"
    )
    with pytest.raises(InterpreterError, match="several steps of a nest add to the same sums"):
        interpret(parse(text), *product.inputs(), function="k")
