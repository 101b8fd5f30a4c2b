# SPDX-License-Identifier: Apache-2.0
"""PyTorch reference and random inputs of each hand-written kernel."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F

FOLDER = Path(__file__).parent


class Reference(NamedTuple):
    """Input shapes of a kernel, and the PyTorch function that it computes."""

    shapes: tuple[tuple[int, ...], ...]
    function: Callable[..., torch.Tensor]

    def inputs(self) -> list[torch.Tensor]:
        """Return random inputs of these shapes, identical at each call."""
        generator = torch.Generator().manual_seed(0)
        return [torch.randn(shape, generator=generator) for shape in self.shapes]

    def assert_close(self, result: torch.Tensor) -> None:
        """
        Assert that the error of `result` against float64 is at most 8 times PyTorch's in float32,
        which allows another order of sums.
        """
        inputs = self.inputs()
        exact = self.function(*(tensor.double() for tensor in inputs))
        allowed = 8 * float((self.function(*inputs) - exact).abs().max())
        torch.testing.assert_close(result.double(), exact, rtol=0, atol=allowed)


def _attention_values(scores: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    heads, rows, columns = scores.shape
    causal = torch.ones(rows, columns, dtype=torch.bool).tril()
    weights = scores.masked_fill(~causal, -torch.inf).softmax(-1)
    return weights @ values.repeat_interleave(heads // len(values), 0)


def _relu_addmm(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.addmm(bias, a, b).relu()


def _gated_mm(g: torch.Tensor, u: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (F.silu(g) * u) @ w


def _mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def _bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b.transpose(1, 2)


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, weight.shape, weight, 1e-5)


# Number of rows for each row length. Where a block has four rows, the last block is partly empty.
_ROWS = {100: 33, 512: 14, 2048: 6, 50257: 66}

_JOINED = ((70, 333), (333, 50))

REFERENCES: Mapping[str, Reference] = {
    "matmul_split_k": Reference(((512, 2048), (2048, 2048), (2048,)), _relu_addmm),
    "matmul_join_cluster": Reference((*_JOINED, (50,)), _relu_addmm),
    "matmul_join_last_block": Reference((*_JOINED, (50,)), _relu_addmm),
    "matmul_join_workspace": Reference((*_JOINED, (50,)), _relu_addmm),
    "matmul_join_atomic": Reference(_JOINED, _mm),
    "matmul_odd": Reference(((33, 65), (65, 17)), _mm),
    "gated_matmul": Reference(((256, 1024), (256, 1024), (1024, 256)), _gated_mm),
    "attention_values": Reference(((8, 100, 100), (2, 100, 64)), _attention_values),
    "matmul_tma_slabs": Reference(((256, 160), (160, 256)), _mm),
    "batched_matmul_tma": Reference(((6, 256, 128), (6, 128, 128)), _bmm),
    **{f"softmax_{n}": Reference(((rows, n),), _softmax) for n, rows in _ROWS.items()},
    **{f"rms_norm_{n}": Reference(((rows, n), (n,)), _rms_norm) for n, rows in _ROWS.items()},
}
