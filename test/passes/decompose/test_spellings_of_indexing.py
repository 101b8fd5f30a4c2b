# SPDX-License-Identifier: Apache-2.0
"""
Usual spellings of subscripts that are data, and of resizing.

They are captured as known ops, and compute eager PyTorch's values.
"""

# PyTorch's functions are typed in part, and lambdas that call them not at all.
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context

from tilewright.arrays import array_of
from tilewright.frontend.capture import capture
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass

torch: Any = pytest.importorskip("torch")
F = torch.nn.functional
nn = torch.nn

Function = Callable[..., Any]

_TABLE = nn.Embedding(6, 3, padding_idx=1)

# Functions of a matrix 4x6, a vector of subscripts below 4, and a matrix 4x2 of subscripts below 6.
# Each has the ops that it must become.
READING: dict[str, Function] = {
    "embedding": lambda m, k, n: (
        F.embedding(k, m, padding_idx=-1, scale_grad_by_freq=True),
        _TABLE(n),
    ),
    "gather": lambda m, k, n: (m.gather(1, n), torch.gather(m, -1, n, sparse_grad=True)),
    "index_select": lambda m, k, n: (m.index_select(0, k), torch.index_select(m, 1, k)),
    "index": lambda m, k, n: (m[k], m[:, k], m[k, k], m[[0, -1]], m[..., n], m[k, None, k]),
    "select.int index": lambda m, k, n: m[k, 1],
    "take": lambda m, k, n: (m.take(n), torch.take(m, k)),
    "take_along_dim": lambda m, k, n: (m.take_along_dim(n, 1), torch.take_along_dim(m, n)),
    "one_hot": lambda m, k, n: F.one_hot(n, 7),
}
WRITING: dict[str, Function] = {
    "scatter.src": lambda m, k, n: (m.scatter(1, n, m * 2), m.clone().scatter_(1, n, m)),
    "scatter.value": lambda m, k, n: torch.scatter(m, 1, n, 2.5),
    "scatter.reduce": lambda m, k, n: m.scatter(1, n, m, reduce="add"),
    "scatter.value_reduce": lambda m, k, n: m.scatter(1, n, 2, reduce="multiply"),
    "scatter_add": lambda m, k, n: (m.scatter_add(1, n, m), m.clone().scatter_add_(1, n, m)),
    "scatter_reduce.two": lambda m, k, n: m.scatter_reduce(1, n, m, "mean", include_self=False),
    "index_copy": lambda m, k, n: m.index_copy(0, k, m[:3]),
    "index_add": lambda m, k, n: torch.index_add(m, 0, k, m[:3], alpha=2),
    "index_reduce": lambda m, k, n: m.index_reduce(0, k, m[:3], "amax"),
    "index_fill.int_Scalar index_fill.int_Tensor": lambda m, k, n: (
        m.index_fill(0, k, 2),
        m.index_fill(0, k, m[0, 0]),
    ),
    "index_put": lambda m, k, n: (
        m.index_put((k,), m[:3]),
        m.index_put((k,), m[0], accumulate=True),
        written(m, k),
    ),
    "put": lambda m, k, n: m.put(k, m[0, :3]),
}

# Functions of a sequence 1x2x5, an image 1x2x4x6 and a volume 1x1x2x3x4.
RESIZING: dict[str, Function] = {
    "upsample_nearest1d.vec": lambda s, i, v: F.interpolate(s, scale_factor=1.5),
    "upsample_nearest2d.vec": lambda s, i, v: (
        F.interpolate(i, (3, 9)),
        F.interpolate(i, scale_factor=(1.5, 0.7), recompute_scale_factor=True),
        nn.Upsample(scale_factor=2)(i),
        nn.UpsamplingNearest2d(size=(3, 5))(i),
    ),
    "upsample_nearest3d.vec": lambda s, i, v: F.interpolate(v, scale_factor=2.0),
    "_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec": (
        lambda s, i, v: [
            F.interpolate(x, scale_factor=1.5, mode="nearest-exact") for x in (s, i, v)
        ]
    ),
    "upsample_linear1d.vec": lambda s, i, v: F.interpolate(s, 8, mode="linear"),
    "upsample_bilinear2d.vec": lambda s, i, v: (
        F.interpolate(i, scale_factor=2, mode="bilinear"),
        F.interpolate(i, (3, 5), mode="bilinear", align_corners=True),
        nn.Upsample((8, 9), mode="bilinear")(i),
        nn.UpsamplingBilinear2d(scale_factor=2)(i),
    ),
    "upsample_trilinear3d.vec": lambda s, i, v: F.interpolate(
        v, scale_factor=1.5, mode="trilinear"
    ),
    "upsample_bicubic2d.vec": lambda s, i, v: F.interpolate(i, (5, 5), mode="bicubic"),
}


def written(m: Any, k: Any) -> Any:
    """Return a copy of a matrix, written in place."""
    m = m.clone()
    m[k] = m[1:2] * 2
    m[:, k] = 1.5
    m[k, k] += 3
    return m


def check(family: dict[str, Function], *inputs: Any) -> None:
    """Capture all at once: one export costs as much as a hundred decompositions."""

    def everything(*inputs: Any) -> list[Any]:
        return [function(*inputs) for function in family.values()]

    captured = capture(everything, inputs)
    found = {op.name.removeprefix("torch.") for op in captured.module.walk()}
    assert {name for names in family for name in names.split()} <= found

    DecomposePass().apply(Context(), captured.module)
    arrays = interpret(captured.module, *(array_of(input.tensor) for input in captured.inputs))
    expected = torch.utils._pytree.tree_leaves(everything(*inputs))
    for got, tensor in zip(arrays, expected, strict=True):
        assert (got.dtype, got.shape) == (array_of(tensor).dtype, tuple(tensor.shape))
        np.testing.assert_allclose(got, array_of(tensor), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter", "ignore:index_reduce")
@pytest.mark.parametrize("family", [READING, WRITING])
def test_subscripts(family: dict[str, Function]):
    columns = torch.tensor([[0, 5], [1, 1], [3, 2], [5, 5]])
    check(family, torch.randn(4, 6), torch.tensor([3, 0, 2]), columns)


def test_resizing():
    # In float64: weights that differ in float32's last place are equal.
    shapes = [(1, 2, 5), (1, 2, 4, 6), (1, 1, 2, 3, 4)]
    check(RESIZING, *(torch.randn(shape, dtype=torch.float64) for shape in shapes))
