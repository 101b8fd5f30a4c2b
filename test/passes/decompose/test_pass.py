# SPDX-License-Identifier: Apache-2.0
"""Names, locations and numbered rewrites of the pass, and the ops it refuses."""

from math import inf, nan

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import torch
from tilewright.dialects.torch import Torch
from tilewright.dialects.torch.op import TensorOp, tensor, torch_op
from tilewright.dialects.types import shape_of
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass
from tilewright.passes.loop.lift import LiftPass
from tilewright.passes.reporting.trace import Listener, Rule, listening


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Torch):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def calling(op: str, type: str = "tensor<4x8xf32>") -> ModuleOp:
    return parse(f"""
      func.func @main(%x : {type}) -> {type} {{
        %y = {op} : ({type}) -> {type}
        func.return %y : {type}
      }}
    """)


def body_of(module: ModuleOp) -> list[Operation]:
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    return [*main.body.block.ops][:-1]


def test_names_and_locations_are_those_of_the_torch_op():
    module = calling("torch.softmax.int %x dim -1")
    location = NameLoc(StringAttr("softmax"), UnknownLoc())
    body_of(module)[0].location = location
    DecomposePass().apply(Context(), module)
    assert len(body_of(module)) == 7
    for op in body_of(module):
        assert op.location == location
        assert op.results[0].name_hint == "y"


def test_an_op_that_moves_nothing_leaves_no_op():
    module = calling("torch.reshape %x shape [4, -1]")
    DecomposePass().apply(Context(), module)
    assert body_of(module) == []
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    assert (returned := main.get_return_op()) is not None
    assert returned.operands[0] is main.body.block.args[0]
    assert main.body.block.args[0].name_hint == "x"


class Recorder(Listener[str]):
    """Listener that keeps the rewrites."""

    def __init__(self):
        self.rewrites: list[tuple[str, str]] = []

    def look(self, scope: Operation) -> str:
        return str(scope)

    def rewrote(self, rule: Rule, site: str, before: str, after: str) -> None:
        assert "torch." in before
        self.rewrites.append((str(rule), site))

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        raise AssertionError("nothing is skipped")

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        raise AssertionError("nothing is weighed")


def test_each_rewrite_is_reported_once():
    module = calling("torch.relu %x")
    with listening(recorder := Recorder()):
        DecomposePass().apply(Context(), module)
    number = [op.name for op in torch.OPS].index("torch.relu") + 1
    assert recorder.rewrites == [(f"d:{number:03d}_relu", "main")]


@torch_op("cos")
class CosOp(TensorOp):
    """An op of the dialect without a pattern."""

    input = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return shape_of(self.input)


def test_an_op_without_a_pattern_is_named():
    module = calling("torch.relu %x")
    relu = body_of(module)[0]
    Rewriter.replace_op(relu, CosOp.build(operands=relu.operands, result_types=[relu.result_types]))
    with pytest.raises(PassFailedException, match=r"there is no pattern for torch\.cos"):
        DecomposePass().apply(Context(), module)


def float32(numbers: list[float]) -> NDArray[np.float32]:
    return np.array(numbers, np.float32)


def test_floor_division_means_the_same_in_loops():
    module = parse("""
      func.func @main(%x : tensor<13xf32>, %y : tensor<13xf32>) -> tensor<13xf32> {
        %z = torch.div.Tensor_mode %x, %y rounding_mode "floor"
            : (tensor<13xf32>, tensor<13xf32>) -> tensor<13xf32>
        func.return %z : tensor<13xf32>
      }
    """)
    x = float32([1, inf, -inf, nan, 5, -5, 5, 0, -0.0, 1e-30, 1, 3e38, -7])
    y = float32([0.1, 1, 1, 1, 0, 0, inf, 0, 2, -1e30, -inf, 1e-9, 2])
    floors = float32([9, nan, nan, nan, inf, -inf, 0, nan, -0.0, -1, -1, inf, -4])
    DecomposePass().apply(Context(), module)
    np.testing.assert_array_equal(interpret(module, x, y)[0], floors)
    LiftPass().apply(Context(), module)
    np.testing.assert_array_equal(interpret(module, x, y)[0], floors)
