# SPDX-License-Identifier: Apache-2.0
"""A concatenation of many widened tensors is written part by part, from the half types."""

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.loop.lift import LiftPass

Parse = Callable[[str], ModuleOp]


def _joined(names: list[str], sizes: list[int], result: str, type: str) -> str:
    """Return text that concatenates one-dimensional tensors of `type`."""
    starts = [sum(sizes[:position]) for position in range(len(sizes))]
    sources = ", ".join(
        f"%{name} by affine_map<(d0) -> (d0 - {start})> "
        f"where affine_map<(d0) -> (d0 - {start}, {start + size - 1} - d0)>"
        for name, size, start in zip(names, sizes, starts, strict=True)
    )
    types = ", ".join(f"tensor<{size}x{type}>" for size in sizes)
    total = f"tensor<{sum(sizes)}x{type}>"
    return f"%{result} = prim.index_map {sources} else 0.0 : {type} : ({types}) -> {total}\n"


def _cast(name: str, size: int) -> str:
    types = f"(tensor<{size}xf16>) -> tensor<{size}xf32>"
    return f"%{name}_wide = prim.elementwise cast(%{name}) : {types}\n"


def _each_cast(names: list[str]) -> str:
    wide = [f"{name}_wide" for name in names]
    return "".join(_cast(name, 3) for name in names) + _joined(wide, [3] * 18, "all", "f32")


def _halves_cast(names: list[str]) -> str:
    body = _joined(names[:9], [3] * 9, "a", "f16") + _joined(names[9:], [3] * 9, "b", "f16")
    return (
        body
        + _cast("a", 27)
        + _cast("b", 27)
        + _joined(["a_wide", "b_wide"], [27] * 2, "all", "f32")
    )


@pytest.mark.parametrize(
    ("body", "inputs_read"), [(_each_cast, [16, 2]), (_halves_cast, [14, 3, 2])]
)
def test_parts(parse: Parse, body: Callable[[list[str]], str], inputs_read: list[int]):
    names = [f"x{number}" for number in range(18)]
    arguments = ", ".join(f"%{name}: tensor<3xf16>" for name in names)
    module = parse(
        f"func.func @f({arguments}) -> tensor<54xf32> {{\n"
        f"{body(names)} func.return %all : tensor<54xf32> }}"
    )
    LiftPass().apply(context(), module)
    module.verify()
    inputs = [np.arange(3, dtype=np.float16) / 3 + number for number in range(18)]
    (found,) = interpret(module, *inputs, function="f")
    np.testing.assert_array_equal(found, np.concatenate(inputs).astype(np.float32))
    launches = [op for op in module.walk() if isinstance(op, loop.LaunchOp)]
    assert [len(op.inputs) for op in launches] == inputs_read
