# SPDX-License-Identifier: Apache-2.0
"""The base class of all decompositions: rewrite patterns that compute a Torch op in Tensor IR."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.dialects.torch_op import TorchOp
from tilewright.passes.decompose.tensor import Emitter, Tensor

OpT = TypeVar("OpT", bound=TorchOp)


class Decomposition(RewritePattern, ABC, Generic[OpT]):
    """Replaces an op by what `decompose` says it computes. A table says for which ops it is."""

    @abstractmethod
    def decompose(self, op: OpT, emit: Emitter) -> Tensor:
        """The result of `op`, of its type; `emit` makes its arguments something to compute with."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace `op`, which the table has found to be of this pattern's type."""
        matched = cast(OpT, op)
        emit = Emitter(matched)
        result = self.decompose(matched, emit).value
        assert result.type == matched.result.type
        rewriter.replace(op, emit.ops, [result])


Table = Mapping[type[TorchOp], Decomposition[Any]]
"""Which pattern decomposes which op."""
