# SPDX-License-Identifier: Apache-2.0
"""Torch IR runs by calling ATen: capture and this interpreter check each other."""

from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tilewright.dialects.torch import Torch
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.capture import capture
from tilewright.frontend.expression import parse_expression
from tilewright.frontend.reference import eager, reference
from tilewright.interpreters import interpret


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Torch):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text",
    [
        "nn.RMSNorm(64)(torch.rand(4, 64) * 1e-4)",
        "F.rms_norm((torch.rand(4, 64) * 1e-4).half(), (64,)).float()",
        "torch._fused_rms_norm(torch.rand(4, 64) * 1e-4, (64,), None, None)",
        "x = torch.rand(3, 4); y = torch.rand(4)\n"
        "a = torch.add(x, y, alpha=2) + 1 - 2.5 + torch.sub(x, 3, alpha=0.5)\n"
        "b = (2 - x) / 3 + 2 ** x + x ** -0.5 + torch.div(x, y, rounding_mode='floor')\n"
        "c = F.gelu(x, approximate='tanh') + F.rms_norm(x, (4,), y, 1e-6) + x.softmax(-2)\n"
        "d = F.layer_norm(x, (4,), None, y) + torch.addmm(y, x, x.T @ x, beta=0, alpha=0.5)\n"
        "a, b, c, d, x.sum((0, -1), keepdim=True), x.mean(1), x.sum(), x.amax(1), x.amin()",
        "x = torch.rand(2, 3, 4)\n"
        "y = x.permute(2, 0, 1).reshape(4, 6).t().contiguous().view(2, 3, 4).expand(5, 2, 3, 4)\n"
        "y, x[:, None].squeeze(1).flatten(1), x.transpose(-1, 0).clone(), "
        "F.linear(x, torch.rand(5, 4), torch.rand(5)), torch.bmm(x, x.mT), x @ torch.rand(4)",
        "torch.rand(9, 99).sum(1, dtype=torch.float32).softmax(0)",
        "F.linear(torch.arange(3).sin(), torch.rand(2, 3)) + torch.arange(2).logsumexp(0)",
    ],
)
def test_captured_ir_computes_the_results_of_the_graph(text: str):
    expression = parse_expression(text, seed=1)
    captured = capture(expression.module, expression.args)
    inputs: list[Any] = [i.tensor.detach().numpy() for i in captured.inputs]
    module = parse(str(captured.module))
    for got, expected in zip(interpret(module, *inputs), eager(captured, inputs), strict=True):
        np.testing.assert_array_equal(got, expected)
    exact = interpret(module, *inputs, dtype=np.float64)
    for got, expected in zip(exact, reference(captured, inputs), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == np.float64


def test_edited_ir():
    module = parse("""
      func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<f64>) {
        %0 = torch.mul.Scalar %x other -inf : (tensor<3xf32>) -> tensor<3xf32>
        %1 = torch.sum %x dtype f64 : (tensor<3xf32>) -> tensor<f64>
        func.return %0, %1 : tensor<3xf32>, tensor<f64>
      }
    """)
    product, total = interpret(module, np.array([1, -1, 0], np.float32))
    np.testing.assert_array_equal(product, [-np.inf, np.inf, np.nan])
    assert total.dtype == np.float64


@pytest.mark.parametrize(
    ("callee", "reason"),
    [
        ("func.func private @f(tensor<3xf32>) -> tensor<3xf32>", "with a body of one block"),
        (
            """func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
              %0 = func.call @f(%x) : (tensor<3xf32>) -> tensor<3xf32>
              func.return %0 : tensor<3xf32>
            }""",
            "calls itself and would never return",
        ),
    ],
)
def test_calls_that_cannot_be_run(callee: str, reason: str):
    module = parse(f"""
      {callee}
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
        %0 = torch.relu %x : (tensor<3xf32>) -> tensor<3xf32>
        %1 = func.call @f(%0) : (tensor<3xf32>) -> tensor<3xf32>
        func.return %1 : tensor<3xf32>
      }}
    """)
    with pytest.raises(TilewrightError, match=reason):
        interpret(module, np.zeros(3, np.float32))


def test_arguments_that_do_not_fit():
    module = parse("func.func @main(%x: tensor<3xf32>) { %0 = torch.exp %x : "
                   "(tensor<3xf32>) -> tensor<3xf32> func.return }")  # fmt: skip
    with pytest.raises(UsageError):
        interpret(module, np.zeros(4, np.float32))


def test_values_that_pytorch_refuses():
    module = parse("""
      func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
        %0 = torch.binary_cross_entropy %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
        func.return %0 : tensor<f32>
      }
    """)
    with pytest.raises(UnsupportedError, match=r"'torch.binary_cross_entropy': all elements of"):
        interpret(module, np.array([0, 1], np.float32), np.array([2, 3], np.float32))
