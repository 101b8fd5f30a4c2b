# SPDX-License-Identifier: Apache-2.0
"""
Products of split factors: exact numbers leave a part out of each half, so that the products with
the second parts count.
"""

from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects.kernel import MatrixMultiplyOp
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.interpreters.check import PassCheckError, check_pass
from tilewright.interpreters.exact.comparison import ExactComparison
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.rewriting.launching import with_main

PRODUCT = """
loop.kernel @product(%a: memref<16x16xf32>, %b: memref<16x16xf32>) -> (%out: memref<16x16xf32>) {
  loop.for %i in 16, %j in 16 {
    %sum = loop.reduce %k in 16 with add {
      %0 = loop.load %a[%i, %k] : memref<16x16xf32>
      %1 = loop.load %b[%j, %k] : memref<16x16xf32>
      %2 = arith.mulf %0, %1 fastmath<afn> : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<16x16xf32>
  }
}"""
RELU = PRODUCT.replace(
    "    loop.store %sum,",
    "    %zero = arith.constant 0.0 : f32\n    %relu = arith.maximumf %sum, %zero : f32\n"
    "    loop.store %relu,",
)
SCHEDULE = (
    "tileify,blockify-launch{m=16 n=16},stage-inputs{raw=a,b},"
    "register-tile{fm=2 fn=4 fk=1 min_blocks=0},tensor-core{instr=m16n8k8_tf32x3}"
)
EXACT, ROUGH = "modulo primes", "for rough halves of factors"


@cache
def levels(text: str) -> tuple[ModuleOp, ModuleOp]:
    """Return a scheduled product at Loop IR and at Kernel IR."""
    module = Parser(context(), text).parse_module()
    (kernel,) = (op for op in module.ops if isinstance(op, KernelOp))
    kernel.planned = ScheduleAttr.parse(SCHEDULE)
    nest = with_main(module)
    return nest, lower(nest, Level.KERNEL, target="sm_90a")


def products_of(module: ModuleOp) -> list[MatrixMultiplyOp]:
    """Return the matrix instructions of a module."""
    return [op for op in module.walk() if isinstance(op, MatrixMultiplyOp)]


@pytest.mark.parametrize("text", [PRODUCT, RELU], ids=["sum", "maximum"])
def test_a_split_product_is_right(text: str):
    nest, lowered = levels(text)
    assert len(products_of(lowered)) >= 3
    compare = ExactComparison()
    check_pass(nest, lowered, "my-pass", compare=compare)
    assert (compare.notes, [each.name for each in compare.compared.values()]) == ([], [EXACT])


@pytest.mark.parametrize(
    ("text", "numbers"), [(PRODUCT, EXACT), (RELU, ROUGH)], ids=["sum", "maximum"]
)
def test_each_dropped_product_is_found(text: str, numbers: str):
    nest, lowered = levels(text)
    corrections = 0
    for number, product in enumerate(products_of(lowered)):
        wrong = lowered.clone()
        products_of(wrong)[number].detach()
        is_correction = "low" in f"{product.a.name_hint} {product.b.name_hint}"
        corrections += is_correction
        with pytest.raises(PassCheckError, match=numbers if is_correction else "differ"):
            check_pass(nest, wrong, "my-pass", compare=ExactComparison())
    assert corrections >= 2
