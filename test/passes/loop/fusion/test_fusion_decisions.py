# SPDX-License-Identifier: Apache-2.0
"""
Each rule of fusion at two sizes: it fuses at one only, and reports the costs it weighed at both.

The tensors are too large to run; other tests check results.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tilewright import api
from tilewright.dialects import loop
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import TO_LOOP, available_passes
from tilewright.passes.reporting.trace import Listener, Rule, listening

Shape = tuple[int, ...]


class Decisions(Listener[None]):
    """Listener that keeps the decisions of both kinds."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def look(self, scope: object) -> None:
        """Keep nothing of the kernel."""

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Keep the reason."""
        self.kept.append(f"{rule} skipped at {site}: {reason}")

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Keep the reason."""
        self.kept.append(f"{rule} chosen at {site}: {reason}")


def decisions(program: Callable[..., Any], shapes: tuple[Shape, ...], pipeline: str) -> list[str]:
    """Return the decisions of passes about `program`, called with tensors of `shapes`."""
    inputs = [torch.empty(shape, device="meta") for shape in shapes]
    module = lower(api.capture(program, *inputs).module, Level.TENSOR)
    with listening(decisions := Decisions()):
        PassManager(context()).run(module, parse_pipeline(pipeline, available_passes()))
    return decisions.kept


def kernels(program: Callable[..., Any], *shapes: Shape) -> list[loop.KernelOp]:
    """Return the kernels that `program` becomes, called with tensors of `shapes`."""
    inputs = [torch.empty(shape, device="meta") for shape in shapes]
    module = api.lower(api.capture(program, *inputs), "loop")
    return [op for op in module.ops if isinstance(op, loop.KernelOp)]


def gated(x: Tensor, w: Tensor) -> Tensor:
    gate, up = (x @ w).chunk(2, -1)
    return gate.exp() * up


def powers_of_columns(x: Tensor, v: Tensor) -> Tensor:
    return x * (v**v) ** v


def shares(x: Tensor) -> Tensor:
    return x / x.sum(-1, keepdim=True)


def powers_of_shares(x: Tensor) -> Tensor:
    return (((shares(x) ** x) ** x) ** x) ** x


def weighted(s: Tensor, v: Tensor) -> Tensor:
    weights = s.exp()
    return (weights @ v) / weights.sum(-1, keepdim=True)


def products(x: Tensor, *factors: Tensor) -> list[Tensor]:
    return [x @ factor for factor in factors]


def heads(q: Tensor, k: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    return q * t, (k**t) ** t


def residual(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    total = x + y
    return total, F.rms_norm(total, total.shape[-1:])


def exponentials(x: Tensor) -> tuple[Tensor, Tensor]:
    exponentials = x.exp()
    return exponentials, exponentials.sum()


def activated(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    product = x @ w
    return product, torch.relu(product)


def normed_product(x: Tensor, w: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:]) @ w


def of_transpose(x: Tensor, w: Tensor) -> Tensor:
    return x.t() @ w


def transposed(x: Tensor, w: Tensor) -> Tensor:
    return (x @ w).t()


def row_by_row(x: Tensor, w: Tensor) -> Tensor:
    return (x[:, None] * w).sum(-1)


def broadcast(x: Tensor, y: Tensor) -> Tensor:
    return x.expand(64, -1, -1) + y[:, None, :]


def of_flat_permutation(x: Tensor) -> Tensor:
    return x.permute(2, 0, 1).flatten(1).softmax(0)


INLINED = "lift,inline-elementwise,fuse-epilogue"
MERGED = f"{INLINED},merge-siblings,merge-loops"
FACTOR = (64, 120)

CASES: list[tuple[Callable[..., Any], tuple[Shape, ...], str, str]] = [
    (
        powers_of_columns,
        ((16, 4096), (4096,)),
        "lift,inline-elementwise",
        "f:001_inline_elementwise chosen at pow_1: recompute 16x of powf (131 instructions) over "
        "4096 elements: 2.27 us against 4.18 us apart, saves 32.8 kB",
    ),
    (
        powers_of_columns,
        ((8192, 4096), (4096,)),
        "lift,inline-elementwise",
        "f:001_inline_elementwise skipped at pow_1: recompute 8192x of powf (131 instructions) "
        "over 4096 elements: 138.42 us against 84.15 us apart, saves 32.8 kB",
    ),
    (
        powers_of_shares,
        ((4096, 4096),),
        "lift,fuse-reduction,fuse-epilogue",
        "f:002_fuse_epilogue chosen at div_sum: compute powf (66 instructions) where 16777216 "
        "elements are stored: 42.06 us against 104.16 us apart, saves 201.3 MB",
    ),
    (
        powers_of_shares,
        ((8, 12288),),
        "lift,fuse-reduction,fuse-epilogue",
        "f:002_fuse_epilogue skipped at pow_div_sum: compute powf (66 instructions) where 98304 "
        "elements are stored: 8.98 us against 8.23 us apart, saves 1.2 MB",
    ),
    (
        activated,
        ((64, 4096), (4096, 120)),
        f"{INLINED}{{keep=true}}",
        "f:002_fuse_epilogue chosen at matmul_1: compute maximumf (2 instructions) where 7680 "
        "elements are stored: 2.96 us against 4.98 us apart, saves 30.7 kB",
    ),
    (
        shares,
        ((64, 4096),),
        "lift,fuse-reduction",
        "f:003_fuse_reduction chosen at sum: reduce each of 64 rows 1x: 3.29 us against 5.27 us "
        "apart, saves 1.0 MB",
    ),
    (
        shares,
        ((1, 131073),),
        "lift,fuse-reduction",
        "f:003_fuse_reduction skipped at sum: reduce each of 1 row 1x: 43.32 us against 24.97 us "
        "apart, saves 524.3 kB",
    ),
    (
        products,
        ((33, 64), FACTOR, FACTOR, FACTOR),
        MERGED,
        "f:006_merge_loops chosen at matmul: reduces 3 values at once: reads 8.4 kB once",
    ),
    (
        products,
        ((33, 64), FACTOR, FACTOR, FACTOR, FACTOR),
        MERGED,
        "f:007_merge_siblings skipped at matmul: it shares 8.4 kB with matmul_7, but 4 "
        "accumulators take too many registers in a matrix product",
    ),
    (
        heads,
        ((256, 128, 64), (128, 128, 64), (128, 64)),
        MERGED,
        "f:007_merge_siblings chosen at mul: do 2x the work of pow_1 in the same steps: 10.53 us "
        "against 13.16 us apart, saves 32.8 kB",
    ),
    (
        heads,
        ((256, 128, 64), (8, 128, 64), (128, 64)),
        MERGED,
        "f:007_merge_siblings skipped at mul: do 32x the work of pow_1 in the same steps: 10.53 us "
        "against 9.28 us apart, saves 32.8 kB",
    ),
    (
        weighted,
        ((8, 128, 128), (8, 128, 64)),
        f"{INLINED},fuse-rows",
        "f:008_fuse_rows chosen at sum_exp: 1024 rows of 64 columns: 2.41 us against 4.47 us "
        "apart, saves 532.5 kB",
    ),
    (
        weighted,
        ((8, 1, 8192), (8, 8192, 64)),
        f"{INLINED},fuse-rows",
        "f:008_fuse_rows skipped at sum_exp: 8 rows of 64 columns: 85.94 us against 10.38 us "
        "apart, saves 262.2 kB",
    ),
    (
        powers_of_columns,
        ((16, 4096), (4096,)),
        "lift,inline-elementwise{always=true},cut-recompute",
        "f:010_cut_recompute skipped at mul_pow: recompute 16x of powf over 4096 elements: "
        "2.26 us against 4.18 us apart, saves 32.8 kB",
    ),
    (
        powers_of_columns,
        ((8192, 4096), (4096,)),
        "lift,inline-elementwise{always=true},cut-recompute",
        "f:010_cut_recompute chosen at mul_pow: recompute 8192x of powf over 4096 elements: "
        "136.42 us against 84.15 us apart, saves 32.8 kB",
    ),
    (
        residual,
        ((33, 500), (33, 500)),
        f"{INLINED},fuse-outputs",
        "f:011_fuse_outputs chosen at add: recompute 2x of addf (3 instructions) over 16500 "
        "elements: 4.24 us against 6.18 us apart, saves 0 B",
    ),
    (
        exponentials,
        ((1024, 1024),),
        f"{INLINED},fuse-outputs",
        "f:011_fuse_outputs skipped at exp: recompute 2x of exp (9 instructions) over 1048576 "
        "elements: 332.54 us against 171.77 us apart, saves 4.2 MB",
    ),
    (
        gated,
        ((64, 512), (512, 2048)),
        f"{INLINED},fuse-parts",
        "f:016_fuse_parts chosen at matmul_1: reduce 2 parts of 131072 elements where they are "
        "joined: 4.08 us against 6.29 us apart, saves 1.0 MB",
    ),
    (
        gated,
        ((1, 65536), (65536, 2)),
        f"{INLINED},fuse-parts",
        "f:016_fuse_parts skipped at matmul_1: reduce 2 parts of 2 elements where they are "
        "joined: 32.99 us against 19.49 us apart, saves 16 B",
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("program", "shapes", "pipeline", "decision"), CASES)
def test_decisions_report_the_weighed_costs(
    program: Callable[..., Any], shapes: tuple[Shape, ...], pipeline: str, decision: str
) -> None:
    assert decision in decisions(program, shapes, pipeline)


def test_a_norm_is_not_recomputed_for_each_block_of_columns() -> None:
    norm, product = kernels(normed_product, (2048, 4096), (4096, 4096))
    (reduction,) = [op for op in product.walk() if isinstance(op, loop.ReduceOp)]
    names = [op.name for op in reduction.body.block.ops]
    assert names == ["loop.load", "loop.load", "arith.mulf", "loop.yield"]
    assert any(op.name == "math.rsqrt" for op in norm.walk())


FREE: list[tuple[Callable[..., Any], tuple[Shape, ...]]] = [
    (of_transpose, ((4096, 2048), (4096, 8192))),
    (transposed, ((2048, 4096), (4096, 8192))),
    (row_by_row, ((2048, 512), (512, 512))),
    (broadcast, ((512, 256), (64, 256))),
    (of_flat_permutation, ((64, 32, 256),)),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("program", "shapes"), FREE)
def test_transposes_and_broadcasts_are_free(
    program: Callable[..., Any], shapes: tuple[Shape, ...]
) -> None:
    assert len(kernels(program, *shapes)) == 1


DECIDED: list[tuple[Callable[..., Any], tuple[Shape, ...]]] = [
    (powers_of_columns, ((16, 4096), (4096,))),
    (powers_of_columns, ((8192, 4096), (4096,))),
    (powers_of_shares, ((8, 12288),)),
    (shares, ((1, 131073),)),
    (weighted, ((8, 128, 128), (8, 128, 64))),
    (weighted, ((8, 1, 8192), (8, 8192, 64))),
    (heads, ((256, 128, 64), (8, 128, 64), (128, 64))),
    (residual, ((33, 500), (33, 500))),
    (exponentials, ((1024, 1024),)),
    (normed_product, ((2048, 4096), (4096, 4096))),
    (normed_product, ((2048, 4096), (4096, 128))),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("program", "shapes"), DECIDED)
def test_fused_values_are_not_cut(program: Callable[..., Any], shapes: tuple[Shape, ...]) -> None:
    assert "cut-recompute" in TO_LOOP
    kept = decisions(program, shapes, TO_LOOP)
    assert not any(line.startswith("f:010_cut_recompute chosen") for line in kept)


def test_cut_values_are_not_fused() -> None:
    cut = "lift,inline-elementwise{always=true},cut-recompute"
    kept = decisions(
        powers_of_columns, ((8192, 4096), (4096,)), f"{cut},inline-elementwise,fuse-reduction"
    )
    (at,) = [n for n, line in enumerate(kept) if "f:010_cut_recompute chosen" in line]
    assert kept[at + 1 :]
    assert not any(" chosen at " in line for line in kept[at + 1 :])


def test_full_kernels_are_compared_once():
    def siblings(x: Tensor) -> list[Tensor]:
        return [x * (n + 0.5) for n in range(40)]

    kept = decisions(siblings, ((64, 32),), "lift,merge-siblings")
    full = [line for line in kept if "outputs keep too many loads" in line]
    assert 0 < len(full) < 20
    assert len(kernels(siblings, (64, 32))) == 10
