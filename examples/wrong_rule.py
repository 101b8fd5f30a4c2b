"""
A bug planted in a rule of `fold-elementwise`, which drops factors of 3, and its blame:

    python examples/wrong_rule.py
"""

from unittest.mock import patch

import torch
from xdsl.ir import SSAValue

import tilewright
from tilewright.dialects import prim

right = prim.ElementwiseOp.equal_operand


def wrong(op: prim.ElementwiseOp) -> SSAValue | None:
    """Return the operand that equals the result, which a factor is not."""
    factor = op.inputs[-1].owner
    if isinstance(factor, prim.ConstantOp) and "3.0" in str(factor.value):
        return op.inputs[0]
    return right(op)


def program(x: torch.Tensor) -> torch.Tensor:
    """Return a program that the bug makes wrong."""
    return torch.softmax(3 * torch.relu(x) + x, 1)


if __name__ == "__main__":
    with patch.object(prim.ElementwiseOp, "equal_operand", wrong):
        found = tilewright.blame(program, torch.randn(8, 64))
    print(found)
    print(found.mlir)
