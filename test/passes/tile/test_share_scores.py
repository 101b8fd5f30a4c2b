# SPDX-License-Identifier: Apache-2.0
"""
Attention in one kernel: after each step of a schedule, the interpreter's result is that of eager
PyTorch. Hidden values that are NaN have no effect.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.loop import KernelOp
from tilewright.interpreters.kernels import interpret_kernel

from .scheduled import run

Parse = Callable[[str], ModuleOp]


class Sizes(NamedTuple):
    """Sizes of attention, and of its blocks and chunks."""

    rows: int
    keys: int
    head: int
    columns: int
    m: int
    n: int
    bk: int


SIZES = [
    Sizes(32, 32, 8, 16, 16, 16, 16),  # all divide
    Sizes(37, 65, 40, 40, 16, 64, 16),  # a block has more columns than a chunk has keys
    Sizes(37, 65, 40, 40, 32, 16, 64),  # a chunk has more keys than a block has columns
    Sizes(21, 50, 12, 20, 16, 24, 16),  # neither is a multiple of the other
    Sizes(9, 5, 4, 7, 8, 8, 8),  # one chunk, which is longer than the keys
]

KERNEL = """
loop.kernel @attention(%q: memref<2x{rows}x{head}xf32>, %key: memref<2x{keys}x{head}xf32>,
                       %v: memref<2x{keys}x{columns}xf32>)
    -> (%out: memref<2x{rows}x{columns}xf32>) {{
  loop.for %i in 2, %j in {rows}, %l in {columns} {{
    %max, %sum, %acc = loop.reduce %k in {keys} with softmax{flags} {{
      %s = loop.reduce %d in {head} with add {{
        %0 = loop.load %q[%i, %j, %d] : memref<2x{rows}x{head}xf32>
        %1 = loop.load %key[%i, %k, %d] : memref<2x{keys}x{head}xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      }} : f32
      %scale = arith.constant 0.25 : f32
      %x = arith.mulf %s, %scale : f32
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%i, %k, %l] : memref<2x{keys}x{columns}xf32>
      loop.yield %x, %one, %g{where} : f32, f32, f32
    }} : f32, f32, f32
    %o = arith.divf %acc, %sum : f32
    loop.store %o, %out[%i, %j, %l] : memref<2x{rows}x{columns}xf32>
  }}
}}
"""
FLAGS = " fastmath<nnan,ninf>"


def steps(sizes: Sizes) -> Iterator[str]:
    """Yield the steps of a schedule."""
    yield from ("tileify", f"chunk-matmul-k{{bk={sizes.bk}}}")
    yield from (f"blockify-launch{{m={sizes.m} n={sizes.n}}}", "share-scores", "stage-inputs")
    yield "register-tile{fm=4 fn=2 fk=2}" if sizes.head % 2 == 0 else "register-tile"
    yield from ("permute-register-tile", "double-buffer{depth=2}", "async-copy", "pad-smem")
    yield from ("pipeline-k-outer", "mark-unroll")


def kernel_text(sizes: Sizes, *, is_causal: bool, flags: str = FLAGS) -> str:
    """Return a kernel of attention as one reduction by softmax."""
    where = " where [%j - %k]" if is_causal else ""
    return KERNEL.format(**sizes._asdict(), where=where, flags=flags)


def tensors(sizes: Sizes) -> list[Tensor]:
    """Return queries, keys and values."""
    generator = torch.Generator().manual_seed(sizes.rows)
    shapes = (sizes.rows, sizes.head), (sizes.keys, sizes.head), (sizes.keys, sizes.columns)
    return [torch.randn(2, *shape, generator=generator) for shape in shapes]


def eager(q: Tensor, k: Tensor, v: Tensor, *, is_causal: bool) -> Tensor:
    """Return attention in float64, by PyTorch."""
    scores = q.double() @ k.double().mT * 0.25
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, -1) @ v.double()


def interpreted(module: ModuleOp, inputs: list[Tensor]) -> Tensor:
    """Return the result of the module's kernel, by the interpreter."""
    (kernel,) = [op for op in module.ops if isinstance(op, KernelOp)]
    (result,) = interpret_kernel(kernel, [tensor.numpy() for tensor in inputs])
    return torch.as_tensor(result)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("is_causal", [True, False])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
def test_each_step_gives_the_result_of_eager_pytorch(
    parse: Parse, sizes: Sizes, is_causal: bool
) -> None:
    module, inputs = parse(kernel_text(sizes, is_causal=is_causal)), tensors(sizes)
    expected = eager(*inputs, is_causal=is_causal)
    for step in steps(sizes):
        run(module, step)
        found = interpreted(module, inputs).double()
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, msg=step)
    text = str(module)
    assert "tile.share" in text
    assert len(re.findall("tile.stage", text)) == 3
    assert text.index("%qs = tile.stage") < text.index("%ko in") or sizes.keys <= sizes.bk


def test_a_hidden_value_that_is_nan_has_no_effect(parse: Parse) -> None:
    """Without flags the products are masked, also in the chunk that the diagonal crosses."""
    sizes = SIZES[1]
    module, inputs = parse(kernel_text(sizes, is_causal=True, flags="")), tensors(sizes)
    first = 21
    inputs[2][:, first:] = torch.nan
    clean = [*inputs[:2], inputs[2].nan_to_num(0.0)]
    expected = eager(*clean, is_causal=True)[:, :first]
    for step in steps(sizes):
        run(module, step)
        found = interpreted(module, inputs)
        torch.testing.assert_close(found[:, :first].double(), expected, rtol=1e-5, atol=1e-5)
        assert found[:, first:].isnan().all()


def test_rows_whose_keys_are_all_hidden_are_zero(parse: Parse) -> None:
    sizes = SIZES[1]
    text = kernel_text(sizes, is_causal=False).replace("%one, %g :", "%one, %g where [%j - 3] :")
    text = text.replace("%o = arith.divf %acc, %sum : f32\n", "").replace("%o, %out", "%acc, %out")
    module, inputs = parse(text), tensors(sizes)
    for step in steps(sizes):
        run(module, step)
        found = interpreted(module, inputs)
        assert (found[:, :3] == 0).all()
        assert (found[:, 3:] != 0).all()


@pytest.mark.parametrize("is_causal", [True, False])
def test_values_that_are_infinite_beyond_the_last_key(parse: Parse, is_causal: bool) -> None:
    """The flags say that values are finite, but nothing of steps beyond the last key."""
    sizes = SIZES[1]
    text = kernel_text(sizes, is_causal=is_causal)
    text = re.sub("%g = (loop.load.*)", r"%h = \1\n%g = arith.divf %one, %h : f32", text)
    q, k, v = tensors(sizes)
    module, v = parse(text), v.abs() + 0.5
    expected = eager(q, k, 1 / v, is_causal=is_causal)
    for step in steps(sizes):
        run(module, step)
        found = interpreted(module, [q, k, v]).double()
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, msg=step)
