# SPDX-License-Identifier: Apache-2.0
"""Base class of all decompositions: patterns that compute a Torch op in Tensor IR."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.dialects.torch.op import TorchOp
from tilewright.dialects.types import element_of
from tilewright.passes.decompose.tensor import Emitter, Tensor

OpT = TypeVar("OpT", bound=TorchOp)


class Decomposition(RewritePattern, ABC, Generic[OpT]):
    """
    Pattern that replaces an op by the tensors that `decompose` computes; a table gives the ops it
    applies to.

    Operands are cast to the type that ATen promotes them to. They are then cast to a type that is
    wide enough to compute in: f32 for half types, i32 for narrow integers. Results are cast to the
    types that ATen gives.
    """

    @abstractmethod
    def decompose(self, op: OpT, emit: Emitter) -> Tensor | Sequence[Tensor]:
        """
        Return the results of `op`; `emit` turns its arguments into tensors and numbers to compute
        with.
        """

    def common_element(self, op: OpT) -> Attribute:
        """Return the type that ATen promotes the operands to."""
        return op.common_element()

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """
        Replace `op` by its decomposition; the table guarantees that it has this pattern's type.
        """
        matched = cast(OpT, op)
        emit = Emitter(matched, self.common_element(matched))
        computed = self.decompose(matched, emit)
        tensors = [computed] if isinstance(computed, Tensor) else computed
        results = [
            tensor.cast(element_of(result)).value
            for tensor, result in zip(tensors, op.results, strict=True)
        ]
        assert [value.type for value in results] == [result.type for result in op.results]
        rewriter.replace(op, emit.ops, results)


Table = Mapping[type[TorchOp], Decomposition[Any]]
"""Decomposition for each class of op."""
