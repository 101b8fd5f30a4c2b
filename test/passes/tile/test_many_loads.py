# SPDX-License-Identifier: Apache-2.0
"""Kernels whose elements need more loads than a thread has registers still get a schedule."""

from collections.abc import Callable, Iterator

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import loop
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import passes_of

Parse = Callable[[str], ModuleOp]

MANY = 300


def _added(count: int, at: str, start: str, type: str) -> Iterator[str]:
    """Yield the lines that add `count` loads to `start`."""
    for number in range(count):
        yield f"%l{number} = loop.load %x{number}[{at}] : {type}"
        before = start if number == 0 else f"%a{number - 1}"
        yield f"%a{number} = arith.addf {before}, %l{number} : f32"


def _arguments(count: int, type: str) -> str:
    return ", ".join(f"%x{number}: {type}" for number in range(count))


def elements(count: int) -> str:
    """Return a kernel that adds `count` tensors elementwise."""
    type = "memref<4194304xf32>"
    body = "\n".join(_added(count, "%i", "%zero", type))
    return f"""loop.kernel @k({_arguments(count, type)}) -> (%out: {type}) {{
      loop.for %i in 4194304 {{
        %zero = arith.constant 0.0 : f32
        {body}
        loop.store %a{count - 1}, %out[%i] : {type}
      }}
    }}"""


def rows(count: int) -> str:
    """
    Return a kernel that adds `count` tensors and subtracts from each row of the sum its maximum.
    """
    type = "memref<8x2048xf32>"
    sum = "\n".join(_added(count, "%i, %k", "%zero", type))
    again = "\n".join(_added(count, "%i, %j", "%zero", type))
    return f"""loop.kernel @k({_arguments(count, type)}) -> (%out: {type}) {{
      loop.for %i in 8 {{
        %zero = arith.constant 0.0 : f32
        %m = loop.reduce %k in 2048 with max {{
          {sum}
          loop.yield %a{count - 1} : f32
        }} : f32
        loop.for %j in 2048 {{
          {again}
          %d = arith.subf %a{count - 1}, %m : f32
          loop.store %d, %out[%i, %j] : {type}
        }}
      }}
    }}"""


def product(count: int) -> str:
    """Return a matrix product with an epilogue that adds `count` tensors."""
    type = "memref<64x64xf32>"
    body = "\n".join(_added(count, "%i, %j", "%s", type))
    others = _arguments(count, type)
    return f"""loop.kernel @k(%p: {type}, %q: {type}, {others}) -> (%out: {type}) {{
      loop.for %i in 64, %j in 64 {{
        %s = loop.reduce %k in 64 with add {{
          %0 = loop.load %p[%i, %k] : {type}
          %1 = loop.load %q[%k, %j] : {type}
          %2 = arith.mulf %0, %1 : f32
          loop.yield %2 : f32
        }} : f32
        {body}
        loop.store %a{count - 1}, %out[%i, %j] : {type}
      }}
    }}"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        (elements, MANY, "register-tile{vector=1 items=1"),
        (elements, 70, "register-tile{vector=2 items=1"),
        (elements, 20, "register-tile{vector=4 items=1"),
        (rows, 30, "row=registers split=2 join=cluster},register-tile{vector=4 items=1"),
        (product, MANY, "register-tile{fm=1 fn=1"),
    ],
)
def test_the_plan_is_possible(
    parse: Parse, text: Callable[[int], str], count: int, expected: str
) -> None:
    (kernel,) = lower(parse(text(count)), Level.TILE).ops
    assert isinstance(kernel, loop.KernelOp)
    assert kernel.schedule is not None
    assert expected in kernel.schedule.data


def test_a_given_schedule_may_need_too_many_registers(parse: Parse) -> None:
    schedule = "tileify,blockify-launch{n=1024},register-tile{vector=4 items=1}"
    with pytest.raises(PassFailedException, match=r"about \d+ registers a thread, of which sm_90a"):
        PassManager(context()).run(parse(elements(100)), passes_of(schedule))
