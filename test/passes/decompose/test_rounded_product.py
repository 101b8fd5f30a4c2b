# SPDX-License-Identifier: Apache-2.0
"""The flag of products whose factors may be rounded reaches Tile IR, and changes no CUDA text."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.utils import FastMathFlag

from tilewright import api
from tilewright.codegen.printer import cuda_source
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr

Program = tuple[Callable[..., torch.Tensor], tuple[tuple[int, ...], ...]]


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def _chain(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.silu(x @ w) @ v


PROGRAMS: dict[str, Program] = {
    "matmul": (torch.matmul, ((66, 70), (70, 65))),
    "linear with bias": (F.linear, ((40, 64), (33, 64), (33,))),
    "bmm": (torch.bmm, ((3, 40, 64), (3, 64, 33))),
    "conv2d": (F.conv2d, ((2, 3, 9, 9), (4, 3, 3, 3), (4,))),
    "attention": (_attention, ((2, 40, 16),) * 3),
    "a chain with an activation": (_chain, ((40, 64), (64, 64), (64, 33))),
}


def _lowered(program: Program, level: str, precision: str) -> ModuleOp:
    function, shapes = program
    inputs = [torch.ones(shape) for shape in shapes]
    captured = api.capture(function, *inputs, matmul_precision=precision)
    return api.lower(captured, level, "sm_90a", db=False)


def _summed_products(module: ModuleOp) -> list[arith.MulfOp]:
    """Return the products that the innermost sums of a module add."""
    sums = [op for op in module.walk() if isinstance(op, loop.ReduceOp) and not op.is_softmax]
    yields = [op.yield_op for op in sums]
    owners: list[Any] = [value.owner for end in yields for value in end.values]
    return [op for op in owners if isinstance(op, arith.MulfOp)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_flag_reaches_tile_ir(name: str):
    products = _summed_products(_lowered(PROGRAMS[name], "tile", "high"))
    assert products
    assert all(FastMathFlag.APPROX_FUNC in op.fastmath.data for op in products)


@pytest.mark.parametrize("name", ["matmul", "attention"])
def test_without_a_precision_there_is_no_flag(name: str):
    products = _summed_products(_lowered(PROGRAMS[name], "tile", "highest"))
    assert products
    assert not any(FastMathFlag.APPROX_FUNC in op.fastmath.data for op in products)


def test_the_flag_alone_changes_no_cuda_text():
    """Without a schedule for tensor cores, products are multiplied as before."""
    without, flagged, cleared = (
        _lowered(PROGRAMS["linear with bias"], "loop", precision)
        for precision in ("highest", "high", "high")
    )
    for op in _summed_products(cleared):
        op.fastmath = arith.FastMathFlagsAttr([])
    assert str(cleared) == str(without)
    for op in (*without.ops, *flagged.ops):
        if isinstance(op, loop.KernelOp):
            op.planned = ScheduleAttr.parse("tileify,blockify-launch{m=16 n=16},mark-unroll")
    texts = [cuda_source(api.lower(each, "cuda", "sm_90a")) for each in (without, flagged)]
    assert texts[0] == texts[1]
