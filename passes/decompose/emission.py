# SPDX-License-Identifier: Apache-2.0
"""Collection of the ops that replace an op, in the order in which they are computed."""

from typing import TypeVar

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import prim
from tilewright.dialects.element_types import Number, number_attribute
from tilewright.dialects.types import tensor_of
from tilewright.passes.decompose.view import Shape

_Op = TypeVar("_Op", bound=Operation)


class Emission:
    """Ops that replace the op `op`."""

    def __init__(self, op: Operation):
        self.op = op
        self.ops: list[Operation] = []

    def add(self, op: _Op) -> _Op:
        """Emit an op with the name and the location of the op that it replaces."""
        op.location = self.op.location
        for result in op.results:
            result.name_hint = self.op.results[0].name_hint
        self.ops.append(op)
        return op

    def splat(self, value: Number, shape: Shape, type: Attribute) -> SSAValue:
        """Return a tensor whose elements are all `value`."""
        op = prim.ConstantOp(number_attribute(value, type), tensor_of(type, shape))
        return self.add(op).results[0]
