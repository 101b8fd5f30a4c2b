# SPDX-License-Identifier: Apache-2.0
"""
Lowering of Torch IR to Tensor IR: each Torch op becomes elementwise functions, reductions and index
maps.

    %mean = torch.mean.dim %x dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>

becomes

    %mean = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %mean_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
    %mean_2 = prim.elementwise div(%mean, %mean_1) : tensor<4xf32>

The patterns stand in one file for each family of ops, which is loaded when one of the ops occurs.
Functions and their types stay unchanged. Attributes of the module that name precisions
(`dialects/precision`) are removed.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from tilewright.dialects import torch
from tilewright.dialects.origin import place_of
from tilewright.dialects.precision import remove_precisions
from tilewright.dialects.torch.op import TorchOp
from tilewright.errors import UnsupportedError, one_line
from tilewright.passes.decompose.decomposition import Decomposition
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, TracedPattern
from tilewright.passes.rewriting.op_table import OpTable

_FILES: Mapping[str, Sequence[str]] = {
    "adaptive_pooling": ("pooling",),
    "channels": ("layout",),
    "elementary": ("unary", "activation"),
    "extremum": ("reduction",),
    "filling": ("creation",),
    "index_writing": ("scatter",),
    "interpolation": ("interpolation", "smooth_interpolation"),
    "loss": ("loss", "cross_entropy"),
    "selection": ("ternary",),
}
"""
Files with the patterns for the ops of one file of the dialect; by default, the one of its name.
"""


def _paths(family: str) -> Sequence[str]:
    files = _FILES.get(family, (family,))
    return [f"tilewright.passes.decompose.{file}:PATTERNS" for file in files]


_PATTERNS = OpTable[Decomposition[Any]](
    {}, {each.__name__: _paths(each.__name__.rpartition(".")[2]) for each in torch.FAMILIES}
)

_NUMBERS = {op: number for number, op in enumerate(torch.OPS, start=1)}


@cache
def pattern_of(kind: type[TorchOp]) -> TracedPattern | None:
    """
    Return the pattern for ops of the class `kind`, or None. Its file is loaded for the first op.
    """
    if (pattern := _PATTERNS.get(kind)) is None:
        return None
    rule = Rule("d", _NUMBERS[kind], kind.ATEN.replace(".", "_").lower())
    return TracedPattern(rule, pattern)


class Decompose(RewritePattern):
    """Pattern that applies the decomposition of an op, if there is one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """
        Decompose `op`; raise `UnsupportedError` if a computation with its numbers overflows.
        """
        if isinstance(op, TorchOp) and (pattern := pattern_of(type(op))) is not None:
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
