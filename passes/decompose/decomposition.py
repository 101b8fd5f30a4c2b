# SPDX-License-Identifier: Apache-2.0
"""The base classes of all decompositions: patterns that compute a Torch op in Tensor IR."""

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
    Replaces an op by what `decompose` says it computes. A table says for which ops it is.

    Operands are cast to the type that ATen promotes them to, and further to one wide enough to
    compute in (half types in f32, narrow integers in i32); results are cast to what ATen gives.
    """

    @abstractmethod
    def decompose(self, op: OpT, emit: Emitter) -> Tensor | Sequence[Tensor]:
        """Return the results of `op`; `emit` makes its arguments something to compute with."""

    def common_element(self, op: OpT) -> Attribute:
        """Return the type that ATen promotes the operands to."""
        return op.common_element()

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace `op`, which the table has found to be of this pattern's type."""
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
"""Which pattern decomposes which op."""
