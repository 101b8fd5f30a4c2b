# SPDX-License-Identifier: Apache-2.0
"""Kernels at Loop IR that tests tune."""

from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.dialects import loop
from tilewright.frontend.expression import parse_expression

MATMUL = "torch.randn(24, 40) @ torch.randn(40, 33)"
HALVES = "torch.randn(64, 64, dtype=torch.bfloat16) @ torch.randn(64, 128, dtype=torch.bfloat16)"
SPLIT = "torch.randn(512, 512) @ torch.randn(512, 512)"
"""A product of float32 that the planner splits into three of tf32."""
ROWS = "F.softmax(torch.randn(6, 70), -1)"
ELEMENTS = "torch.relu(torch.randn(5, 33)) + 1"


def module_of(text: str) -> ModuleOp:
    """Return the Loop IR of an expression."""
    source = parse_expression(text, fake=True)
    return api.lower(api.capture(source.module, *source.args), "loop")


def kernel_of(text: str) -> loop.KernelOp:
    """Return the only kernel of an expression."""
    (kernel,) = (op for op in module_of(text).ops if isinstance(op, loop.KernelOp))
    return kernel
