# SPDX-License-Identifier: Apache-2.0
"""Tensor IR computes the results of NumPy and PyTorch."""

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret, memory
from tilewright.interpreters.errors import TooLargeError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]

REDUCE = """
func.func @main(%x: tensor<3x5x7xf32>) -> tensor<{shape}xf32> {{
  %r = prim.reduce {monoid}(%x) dims [{dims}] : (tensor<3x5x7xf32>) -> tensor<{shape}xf32>
  func.return %r : tensor<{shape}xf32>
}}"""


@pytest.mark.parametrize("monoid", ["add", "mul", "max", "min"])
@pytest.mark.parametrize(("dims", "shape"), [((1,), "3x7"), ((0, 2), "5"), ((), "3x5x7")])
def test_reduce(parse: Parse, rand: Rand, monoid: str, dims: tuple[int, ...], shape: str) -> None:
    join = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}[monoid]
    x = rand(3, 5, 7)
    text = REDUCE.format(monoid=monoid, dims=", ".join(map(str, dims)), shape=shape)
    (result,) = interpret(parse(text), x)
    np.testing.assert_allclose(result, join(x.astype(np.float64), axis=dims), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("monoid", "identity"), [("add", 0.0), ("mul", 1.0), ("max", -inf), ("min", inf)]
)
def test_an_empty_axis_gives_the_identity(parse: Parse, monoid: str, identity: float) -> None:
    module = parse(f"""
      func.func @main(%x: tensor<4x0xf32>) -> tensor<4xf32> {{
        %r = prim.reduce {monoid}(%x) dims [1] : (tensor<4x0xf32>) -> tensor<4xf32>
        func.return %r : tensor<4xf32>
      }}""")
    (result,) = interpret(module, np.zeros((4, 0), np.float32))
    assert result.tolist() == [identity] * 4


def test_max_keeps_nan(parse: Parse) -> None:
    text = REDUCE.format(monoid="max", dims="0, 1, 2", shape="").replace("<xf32>", "<f32>")
    x = np.zeros((3, 5, 7), np.float32)
    x[1, 2, 3] = nan
    (result,) = interpret(parse(text), x)
    assert result.shape == ()
    assert np.isnan(result)


# Views: transpose, broadcast, reshape, strided and reversed slice.
VIEWS: list[tuple[str, str, Callable[[NDArray[np.float32]], NDArray[np.float32]]]] = [
    ("(d0, d1) -> (d1, d0)", "7x5", lambda x: x.T),
    ("(d0, d1, d2) -> (d1, d2)", "3x5x7", lambda x: np.broadcast_to(x, (3, 5, 7))),
    ("(d0) -> (d0 floordiv 7, d0 mod 7)", "35", lambda x: x.reshape(-1)),
    ("(d0, d1) -> (d0 * 2 + 1, d1)", "2x7", lambda x: x[1::2]),
    ("(d0, d1) -> (d0, 6 - d1)", "5x7", lambda x: x[:, ::-1]),
    ("(d0, d1) -> (2, 3)", "2x2", lambda x: np.full((2, 2), x[2, 3])),
    ("(d0, d1) -> (d0, d1)", "0x7", lambda x: x[:0]),
]


@pytest.mark.parametrize(("map", "shape", "view"), VIEWS, ids=[view[0] for view in VIEWS])
def test_index_map(
    parse: Parse,
    rand: Rand,
    map: str,
    shape: str,
    view: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> None:
    module = parse(f"""
      func.func @main(%x: tensor<5x7xf32>) -> tensor<{shape}xf32> {{
        %r = prim.index_map %x by affine_map<{map}> : tensor<5x7xf32> -> tensor<{shape}xf32>
        func.return %r : tensor<{shape}xf32>
      }}""")
    x = rand(5, 7)
    (result,) = interpret(module, x)
    np.testing.assert_array_equal(result, view(x))


def test_constant(parse: Parse) -> None:
    module = parse("""
      func.func @main() -> (tensor<2x3xf32>, tensor<2xi64>) {
        %a = prim.constant 1.5 : f32 -> tensor<2x3xf32>
        %b = prim.constant 7 : i64 -> tensor<2xi64>
        func.return %a, %b : tensor<2x3xf32>, tensor<2xi64>
      }""")
    a, b = interpret(module)
    assert (a == np.full((2, 3), 1.5, np.float32)).all()
    assert b.tolist() == [7, 7]
    assert b.dtype == np.int64


def test_a_tensor_that_does_not_fit_is_refused(
    parse: Parse, rand: Rand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tensor is refused even if the machine has memory for it."""
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    big = "tensor<70000x70000xf32>"
    module = parse(f"""
      func.func @main(%x: tensor<70000xf32>) -> {big} {{
        %b = prim.index_map %x by affine_map<(d0, d1) -> (d1)> : tensor<70000xf32> -> {big}
        %r = prim.elementwise neg(%b) : {big}
        func.return %r : {big}
      }}""")
    with pytest.raises(TooLargeError, match="4900000000 elements"):
        interpret(module, rand(70000))
