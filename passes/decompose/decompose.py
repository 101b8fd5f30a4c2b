# SPDX-License-Identifier: Apache-2.0
"""
Lowering of Torch IR to Tensor IR: each Torch op becomes elementwise functions, reductions and index
maps.

    %mean = torch.mean.dim %x dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>

becomes

    %mean = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %mean_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
    %mean_2 = prim.elementwise div(%mean, %mean_1) : tensor<4xf32>

The patterns stand in one file for each family of ops. Functions and their types stay unchanged.
Attributes of the module that name precisions (`dialects/precision`) are removed.
"""

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from tilewright.dialects.origin import place_of
from tilewright.dialects.precision import remove_precisions
from tilewright.dialects.torch.op import TorchOp
from tilewright.errors import UnsupportedError, one_line
from tilewright.passes.decompose import (
    activation,
    attention,
    binary,
    bits,
    channel_norm,
    comparison,
    concatenation,
    contraction,
    convolution,
    creation,
    cross_entropy,
    division,
    indexing,
    interpolation,
    layout,
    loss,
    normalization,
    padding,
    pooling,
    power,
    product,
    reduction,
    scan,
    scatter,
    slicing,
    smooth_interpolation,
    statistics,
    ternary,
    unary,
)
from tilewright.passes.decompose.decomposition import Table
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, TracedPattern

PATTERNS: Table = {
    **unary.PATTERNS,
    **binary.PATTERNS,
    **division.PATTERNS,
    **power.PATTERNS,
    **ternary.PATTERNS,
    **comparison.PATTERNS,
    **bits.PATTERNS,
    **activation.PATTERNS,
    **reduction.PATTERNS,
    **statistics.PATTERNS,
    **scan.PATTERNS,
    **normalization.PATTERNS,
    **channel_norm.PATTERNS,
    **loss.PATTERNS,
    **cross_entropy.PATTERNS,
    **contraction.PATTERNS,
    **product.PATTERNS,
    **attention.PATTERNS,
    **convolution.PATTERNS,
    **pooling.PATTERNS,
    **interpolation.PATTERNS,
    **smooth_interpolation.PATTERNS,
    **layout.PATTERNS,
    **padding.PATTERNS,
    **slicing.PATTERNS,
    **concatenation.PATTERNS,
    **creation.PATTERNS,
    **indexing.PATTERNS,
    **scatter.PATTERNS,
}

_TRACED = {
    op: TracedPattern(Rule("d", number, op.ATEN.replace(".", "_").lower()), pattern)
    for number, (op, pattern) in enumerate(PATTERNS.items(), start=1)
}


class Decompose(RewritePattern):
    """Pattern that applies the decomposition that the table gives for an op, if any."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """
        Decompose `op` by the table; raise `UnsupportedError` if a computation with its numbers
        overflows.
        """
        if isinstance(op, TorchOp) and (pattern := _TRACED.get(type(op))) is not None:
            try:
                pattern.match_and_rewrite(op, rewriter)
            except ArithmeticError as err:
                message = f"'{op.name}': its numbers are out of range: {one_line(err)}"
                raise UnsupportedError(message, where=place_of(op)) from err


class DecomposePass(ModulePass):
    """Decompose every Torch op into the primitives of Tensor IR."""

    name = "decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decompose all Torch ops of the module; raise an error for an op without a pattern."""
        PatternRewriteWalker(Decompose(), apply_recursively=False).rewrite_module(op)
        if left := list(_torch_ops(op)):
            names = ", ".join(sorted({torch_op.name for torch_op in left}))
            raise refused(left[0], f"there is no pattern for {names}")
        if op.attributes:
            remove_precisions(op)


def _torch_ops(module: ModuleOp) -> Iterator[Operation]:
    return (op for op in module.walk() if op.name.startswith("torch."))
