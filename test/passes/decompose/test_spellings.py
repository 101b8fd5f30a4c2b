# SPDX-License-Identifier: Apache-2.0
"""
Usual spellings of ops that move or create elements: captured ops, and eager PyTorch's values.

All spellings are captured at once: one export costs as much as a hundred decompositions.
"""

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

Function = Callable[[Any, Any, Any], Any]

# Functions of a matrix 4x6, images 1x4x4x6 and a vector 5, with the ops that they must become.
LAYOUT: dict[str, Function] = {
    "view": lambda m, i, v: (
        m.ravel(),
        i.flatten(1),
        i.view_as(i.clone()),
        i.unflatten(1, (2, -1)),
    ),
    "transpose.int permute": lambda m, i, v: (
        m.T,
        m.mT,
        i.swapaxes(1, 2),
        i.movedim(1, 3),
    ),
    "t": lambda m, i, v: m.t() + 1,
    "expand": lambda m, i, v: (v.expand(2, 5), m.expand_as(i), torch.broadcast_to(m, (2, 4, 6))),
    "expand view": lambda m, i, v: (
        *torch.broadcast_tensors(m, i),
        *torch.meshgrid(v, v, indexing="xy"),
    ),
    "repeat": lambda m, i, v: (m.repeat(2, 3), m.tile(2), m.tile((2, 1, 1))),
    "repeat_interleave.self_int": lambda m, i, v: (
        m.repeat_interleave(3, 1),
        m.repeat_interleave(2),
    ),
    "squeeze squeeze.dim unsqueeze": lambda m, i, v: (
        i.squeeze(),
        i.squeeze(0),
        torch.atleast_3d(v),
    ),
    "pixel_shuffle pixel_unshuffle": lambda m, i, v: (
        nn.PixelShuffle(2)(i),
        F.pixel_unshuffle(i, 2),
    ),
    "channel_shuffle": lambda m, i, v: (F.channel_shuffle(i, 2), nn.ChannelShuffle(4)(i)),
    "clone": lambda m, i, v: (m.t().contiguous(), i.contiguous(memory_format=torch.channels_last)),
}
SLICING: dict[str, Function] = {
    "slice select.int": lambda m, i, v: (
        m[1:3, ::2],
        i[..., -1],
        m.narrow(1, 1, 3),
        v[-2:],
        i[0, 1:],
    ),
    "unsqueeze slice": lambda m, i, v: m[None, :, 1:2],
    "flip": lambda m, i, v: (m.flip(0, 1), m.fliplr(), m.flipud(), torch.rot90(m, 2)),
    "roll": lambda m, i, v: (m.roll((1, 2), (0, 1)), m.roll(3), torch.roll(v, -1, -1)),
    "tril triu": lambda m, i, v: (m.tril(1), torch.triu(i, -1)),
    "diagonal": lambda m, i, v: (m.diagonal(1), torch.diag(m), i.diagonal(0, 1, 2)),
    "diag_embed": lambda m, i, v: (
        torch.diag(v, 1),
        torch.diag_embed(m, -1, 0, 1),
        torch.diagflat(m),
    ),
    "unfold": lambda m, i, v: (m.unfold(1, 3, 2), v.unfold(0, 2, 1)),
}
PADDING: dict[str, Function] = {
    "pad": lambda m, i, v: (
        F.pad(m, (1, 2, -1, 1), value=2.0),
        F.pad(m, (1, 2), mode="reflect"),
        F.pad(i, (1, 2, 1, 1), "replicate"),
        F.pad(i, (1, 2, 1, 1), mode="circular"),
        nn.ReflectionPad2d(1)(i),
        nn.ReplicationPad1d(1)(m),
        nn.CircularPad2d((1, 0, 2, 1))(i),
        nn.ZeroPad2d(1)(i),
        nn.ConstantPad1d(2, 3.5)(m),
    ),
    "im2col": lambda m, i, v: (F.unfold(i, 2, padding=1), nn.Unfold((2, 3), stride=2)(i)),
}
JOINING: dict[str, Function] = {
    "split": lambda m, i, v: (*m.split(4, 1), *m.chunk(4, 1), *torch.unsafe_chunk(m, 2)),
    "split_with_sizes": lambda m, i, v: m.split([2, 4], 1),
    "slice": lambda m, i, v: (
        *torch.tensor_split(m, 4, 1),
        *torch.hsplit(m, 2),
        *v.tensor_split((1, 3)),
    ),
    "unbind.int": lambda m, i, v: (*torch.unbind(m, 1), *(row * 2 for row in m)),
    "cat": lambda m, i, v: (torch.cat([m, m], 1), torch.concat([v, v]), torch.hstack([m, m])),
    "cat unsqueeze": lambda m, i, v: (torch.dstack([m, m]), torch.column_stack([v, v])),
    "cat zeros": lambda m, i, v: torch.block_diag(m, m),
    "stack": lambda m, i, v: torch.stack([m, m], -1),
    "select_scatter": lambda m, i, v: torch.select_scatter(m, m[:, 0], 1, -1),
    "slice_scatter": lambda m, i, v: torch.slice_scatter(m, m[:, :2], 1, 1, 5, 2),
    "diagonal_scatter": lambda m, i, v: torch.diagonal_scatter(m, m[:, 0]),
    "mul": lambda m, i, v: torch.kron(m, m),
    "sub": lambda m, i, v: (m.diff(n=2), torch.diff(m, prepend=m[:, :2], append=m, dim=-1)),
    "clone select_scatter slice_scatter fill copy": lambda m, i, v: written(m),
}
CREATION: dict[str, Function] = {
    "_to_copy": lambda m, i, v: (
        m.half(),
        m.long(),
        m.to(torch.int8),
        m.type_as(v.double()),
        m.bool(),
    ),
    "arange arange.start arange.start_step": lambda m, i, v: (
        m + torch.arange(6),
        torch.arange(1, 7) * m,
        torch.arange(0, 10, 2, dtype=torch.float64) + v,
    ),
    "full zeros ones": lambda m, i, v: (
        torch.full((5,), 2.0) + v,
        torch.zeros(5) + v,
        torch.ones(5) + v,
    ),
    "full_like zeros_like ones_like": lambda m, i, v: (
        torch.full_like(m, 3),
        torch.zeros_like(m),
        torch.ones_like(m, dtype=torch.int64),
    ),
    "new_full new_zeros new_ones": lambda m, i, v: (
        m.new_full((3,), 2),
        m.new_zeros(3),
        m.new_ones(2, 2),
    ),
    "fill.Scalar fill": lambda m, i, v: (m.clone().fill_(2), torch.fill(m, v[0])),
    "copy empty.memory_format empty_like": lambda m, i, v: (
        torch.empty(4, 6).copy_(m),
        torch.empty_like(v).copy_(v),
    ),
    "zeros_like new_empty": lambda m, i, v: m.new_empty(3).zero_(),
    "eye eye.m": lambda m, i, v: (m @ torch.eye(6), m @ torch.eye(6, 3)),
    "linspace": lambda m, i, v: (v + torch.linspace(0, 1, 5), v * torch.logspace(0, 1, 5)),
    "scalar_tensor": lambda m, i, v: v + torch.scalar_tensor(2.0),
}


def written(m: Any) -> Any:
    """Return a copy of a matrix with parts written in place."""
    m = m.clone()
    m[:, 0] = 7
    m[1:3, ::2] = m[0:2, 1::2]
    return m


@pytest.mark.one_in(3)
@pytest.mark.parametrize("family", [LAYOUT, SLICING, PADDING, JOINING, CREATION])
def test_usual_spellings(family: dict[str, Function]):
    def everything(m: Any, i: Any, v: Any) -> list[Any]:
        return [function(m, i, v) for function in family.values()]

    inputs = (torch.randn(4, 6), torch.randn(1, 4, 4, 6), torch.randn(5))
    captured = capture(everything, inputs)
    found = {op.name.removeprefix("torch.") for op in captured.module.walk()}
    assert {name for names in family for name in names.split()} <= found

    DecomposePass().apply(Context(), captured.module)
    arrays = interpret(captured.module, *(array_of(input.tensor) for input in captured.inputs))
    expected = torch.utils._pytree.tree_leaves(everything(*inputs))
    for got, tensor in zip(arrays, expected, strict=True):
        assert (got.dtype, got.shape) == (array_of(tensor).dtype, tuple(tensor.shape))
        np.testing.assert_allclose(got, array_of(tensor), rtol=1e-5, atol=1e-6)
