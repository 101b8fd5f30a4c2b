# SPDX-License-Identifier: Apache-2.0
"""
Capture: modules and functions become Torch IR; programs that cannot be compiled are refused by
name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from xdsl.dialects.builtin import FileLineColLoc, NameLoc
from xdsl.dialects.func import FuncOp

from tilewright.dialects.torch.op import TorchOp
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.aten import DTYPES
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import parse_expression


def capture_text(text: str) -> Captured:
    expression = parse_expression(text, fake=True)
    return capture(expression.module, expression.args)


def main(captured: Captured) -> FuncOp:
    (function,) = captured.module.ops
    assert isinstance(function, FuncOp)
    return function


def ops(captured: Captured) -> list[TorchOp]:
    return [op for op in captured.module.walk() if isinstance(op, TorchOp)]


def body(captured: Captured) -> list[str]:
    """Return the lines of the function."""
    return [line.strip() for line in str(captured.module).splitlines()[2:-2]]


def op_names(captured: Captured) -> list[str]:
    return [op.name for op in ops(captured)]


# --- What comes out --------------------------------------------------------------------------


def test_rms_norm():
    captured = capture_text("torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))")
    assert str(captured.module).splitlines()[1:4] == [
        "  func.func public @main(%p_rmsnorm_weight: tensor<2048xf32> "
        '{torch.name = "rmsnorm.weight", torch.kind = "parameter"}, '
        "%t0: tensor<1x32x2048xf32>) -> tensor<1x32x2048xf32> {",
        "    %rms_norm = torch.rms_norm %t0 normalized_shape [2048] weight %p_rmsnorm_weight : "
        "(tensor<1x32x2048xf32>, tensor<2048xf32>) -> tensor<1x32x2048xf32>",
        "    func.return %rms_norm : tensor<1x32x2048xf32>",
    ]
    assert [(i.node, i.name, i.kind) for i in captured.inputs] == [
        ("p_rmsnorm_weight", "rmsnorm.weight", "parameter"),
        ("t0", "t0", "input"),
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
         ["torch.add", "torch.matmul", "torch.relu"]),
        ("x = torch.randn(4, 8); F.softmax(x, -1)", ["torch.softmax.int"]),
        ("F.relu(nn.Linear(4, 4)(torch.randn(2, 4)))", ["torch.linear", "torch.relu"]),
        ("nn.Sequential(nn.LayerNorm(8), nn.GELU(), nn.SiLU(), nn.Dropout(.5))(torch.randn(8))",
         ["torch.layer_norm", "torch.gelu", "torch.silu"]),
        ("x = torch.randn(4, 6); (x.reshape(2, 12), x.t(), x[None].squeeze(0), x.flatten())",
         ["torch.view", "torch.t", "torch.unsqueeze", "torch.squeeze.dim", "torch.view"]),
    ],
)  # fmt: skip
def test_ops(text: str, expected: list[str]):
    assert op_names(capture_text(text)) == expected


def test_every_argument_arrives():
    captured = capture_text(
        "x = torch.randn(3, 4); y = torch.randn(4)\n"
        "a = torch.add(x, y, alpha=2) + 1 - 2.5 + torch.sub(x, 3, alpha=True)\n"
        "b = (2 - x) / 3 + 2 ** x + x ** -0.5 + torch.div(x, y, rounding_mode='floor')\n"
        "c = F.gelu(x, approximate='tanh') + F.rms_norm(x, (4,), y, 1e-6) + x.softmax(-2)\n"
        "d = F.layer_norm(x, (4,), None, y, eps=float('inf'))\n"
        "e = torch.addmm(y, x, x.T @ x, beta=0, alpha=0.5)\n"
        "a, b, c, d, e, x.sum((0, -1), keepdim=True), x.mean(1), x.sum(), x.amax(1), x.amin()"
    )
    text = "\n".join(body(captured))
    for fragment in (
        "torch.add %x, %y alpha 2 :",
        "torch.add.Scalar %add other 1 :",
        "torch.sub.Scalar %add_1 other 2.5 :",
        "torch.sub.Scalar %x other 3 alpha true :",
        "torch.rsub.Scalar %x other 2 :",
        "torch.pow.Scalar %x input 2 :",
        "torch.pow.Tensor_Scalar %x exponent -0.5 :",
        'torch.div.Tensor_mode %x, %y rounding_mode "floor" :',
        'torch.gelu %x approximate "tanh" :',
        "torch.rms_norm %x normalized_shape [4] weight %y eps 1.0e-06 :",
        "torch.softmax.int %x dim -2 :",
        "torch.layer_norm %x normalized_shape [4] bias %y eps inf cudnn_enable false :",
        "beta 0 alpha 0.5 :",
        "torch.sum.dim_IntList %x dim [0, -1] keepdim true :",
        "torch.mean.dim %x dim [1] :",
        "torch.sum %x :",
        "torch.amax %x dim [1] :",
        "torch.amin %x :",
    ):
        assert fragment in text, fragment


def test_locations():
    captured = capture_text("x = torch.randn(4)\ny = x + 1\n\nF.relu(y)")
    add, relu = ops(captured)
    for op, name, line in ((add, "add", 2), (relu, "relu", 4)):
        assert isinstance(location := op.location, NameLoc)
        assert location.desc.data == name == op.results[0].name_hint
        assert isinstance(location.location, FileLineColLoc)
        assert location.location.filename.data == "<-c>"
        assert location.location.line.data == line


def test_the_graph_is_the_same_each_time():
    text = "x = torch.randn(4); F.relu(nn.Linear(4, 4)(x)) + x"
    assert str(capture_text(text).module) == str(capture_text(text).module)


# --- The signature ---------------------------------------------------------------------------


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4, bias=False)
        self.b = nn.Linear(4, 4, bias=False)
        self.b.weight = self.a.weight
        self.unused = nn.Parameter(torch.ones(2))
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.full((4,), 2.0), persistent=False)
        self.table = torch.ones(4)

    def forward(self, x: torch.Tensor, k: float, *, flag: bool = False, y: Any = None) -> Any:
        z = self.a(self.b(x)) * k * self.scale + self.table
        return {"z": z + y if flag else z, "x": (x, [k, None]), "again": z}


def test_no_op_outside_of_the_program_uses_its_values():
    captured = capture_text("a, b = torch.randn(4, 8).relu().chunk(2); torch.maximum(a, b)")
    inside = {*captured.module.walk()}
    uses = [use for op in inside for result in op.results for use in result.uses]
    assert {use.operation for use in uses} <= inside


def test_signature():
    module, x, y = Tied(), torch.randn(2, 4), torch.randn(4)
    captured = capture(module, (x, 2.5), {"flag": True, "y": y})
    assert [(i.name, i.kind) for i in captured.inputs] == [
        ("b.weight", "parameter"),
        ("scale", "buffer"),
        ("table", "constant"),
        ("x", "input"),
        ("y", "input"),
    ]
    tensors = [i.tensor for i in captured.inputs]
    assert tensors[0] is module.a.weight
    assert torch.equal(tensors[1], module.scale)
    assert tensors[3] is x
    assert tensors[4] is y
    assert body(captured)[-1].startswith("func.return %add_1, %x, %add :")
    nested = captured.unflatten(["z", "x", "again"])
    assert nested == {"z": "z", "x": ("x", [2.5, None]), "again": "again"}


def test_an_unused_input_and_an_output_that_is_an_input():
    def function(x: torch.Tensor, unused: torch.Tensor):
        return x

    captured = capture(function, (torch.randn(3), torch.zeros(2, dtype=torch.int64)))
    assert [str(t) for t in main(captured).function_type.inputs] == [
        "tensor<3xf32>",
        "tensor<2xi64>",
    ]
    assert body(captured) == ["func.return %x : tensor<3xf32>"]


@dataclass
class Pair:
    """Result type that a user registers."""

    first: Any
    rest: Any


torch.export.register_dataclass(Pair)

# Each entry: a function, and the results that it nests for its tensors.
NESTED: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: (x, None, {"b": [x + 1], "a": 2.5}), ("0", None, {"b": ["1"], "a": 2.5})),
    (lambda x: Pair(x * 2, "text"), Pair("0", "text")),
    (lambda x: [(), [x], x], [(), ["0"], "1"]),
    (lambda x: (x.shape[0], True, x.neg()), (3, True, "0")),
]


@pytest.mark.parametrize(("function", "expected"), NESTED)
def test_nested_results(function: Any, expected: Any):
    captured = capture(function, (torch.randn(3),))
    assert captured.unflatten(["0", "1"]) == expected


def test_the_same_result_twice():
    def function(x: torch.Tensor):
        y = x.neg()
        return {"a": y, "b": y, "x": x}

    captured = capture(function, (torch.randn(3),))
    assert body(captured)[-1].startswith("func.return %neg, %neg, %x :")


def test_values_of_python_are_baked_in():
    def function(x: torch.Tensor, mode: str, flag: bool, rest: Any, *, by: int, y: torch.Tensor):
        assert rest is None
        return (x - y) * by if mode == "sub" and flag else x

    x, y = torch.randn(3), torch.randn(3)
    # Keyword arguments come in another order than in the signature.
    captured = capture(function, (x, "sub", True, None), {"y": y, "by": 3})
    tensors = {i.name: i.tensor for i in captured.inputs}
    assert tensors["x"] is x
    assert tensors["y"] is y
    assert op_names(captured) == ["torch.sub", "torch.mul.Scalar"]
    assert str(body(captured)[0]).startswith("%sub = torch.sub %x, %y :")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16",
                                   "bfloat16", "float64"])  # fmt: skip
def test_tensors_of_every_dtype_come_in(dtype: str):
    captured = capture(lambda x: x.reshape(2, 2), (torch.ones(4, dtype=getattr(torch, dtype)),))  # pyright: ignore
    (argument,) = main(captured).function_type.inputs
    assert str(argument) == f"tensor<4x{DTYPES[dtype]}>"


def test_a_function_keeps_its_modules_names():
    layer = nn.Linear(3, 2)
    captured = capture(lambda x: layer(x).sum(), (torch.randn(3),))  # pyright: ignore[reportUnknownLambdaType]
    assert [i.name for i in captured.inputs] == ["layer.weight", "layer.bias", "x"]


def test_training_mode_is_restored():
    module = nn.Sequential(nn.Dropout(), nn.Linear(2, 2).eval())
    capture(module, (torch.randn(2),))
    assert [m.training for m in module.modules()] == [True, True, False]
    with pytest.raises(TilewrightError):
        capture(module, (torch.randn(3),))
    assert [m.training for m in module.modules()] == [True, True, False]


# --- Refusals --------------------------------------------------------------------------------


def refused(action: Callable[[], Any]) -> str:
    with pytest.raises(UnsupportedError) as caught:
        action()
    return str(caught.value)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("x = torch.rand(3)\ny = torch.igamma(x, x)\n(y + torch.lgamma(x)).lgamma()",
         ["aten.igamma.default (node igamma at <-c>:2)",
          "aten.lgamma.default (node lgamma at <-c>:3 and 1 more)"]),
        ("F.dropout(torch.randn(3), training=True)", ["<-c>:1: aten.dropout.default", "random"]),
        ("x = torch.randn(3)\nx + torch.randn_like(x)", ["<-c>:2: aten.randn_like", "random"]),
        ("x = torch.randn(3)\nfor _ in range(2): x = x + torch.randn(3)\nx", ["random", "<-c>:2"]),
        ("sum([torch.randn(3).relu() for _ in range(2)])", ["random", "<-c>:1"]),
        ("torch.randn(3).to(torch.complex64) * 1",
         ["<-c>:1: the input 't0' has the dtype torch.complex64", "dtypes: float32, float64,"]),
        ("x = torch.randn(3)\nx[x > 0]", ["<-c>:2: aten.index.Tensor", "boolean mask"]),
        ("x = torch.randn(3)\ny = x.sum()\nif y > 0: y = y + 1\ny",
         ["<-c>:3:4", "values of a tensor"]),
        ("torch.randn(3) + 2**63", ["<-c>:1: aten.add.Tensor", "9223372036854775808 of type int"]),
        ("torch.randn(3).to_sparse()", ["<-c>:1: aten.to_sparse.default", "dense"]),
    ],
)  # fmt: skip
def test_refused(text: str, fragments: list[str], capsys: pytest.CaptureFixture[str]):
    message = refused(lambda: capture_text(text))
    for fragment in fragments:
        assert fragment in message
    assert capsys.readouterr() == ("", "")


class Listed(nn.Module):
    """Module in a plain list, which PyTorch does not register."""

    def __init__(self):
        super().__init__()
        self.inner = [nn.Linear(3, 3)]

    def forward(self, x: torch.Tensor):
        return self.inner[0](x)


@pytest.mark.parametrize("fake", [False, True])
def test_tensors_that_tracing_loses_sight_of(fake: bool):
    for text in ("x = torch.randn(3)\nx.data + 1", "nn.Linear(3, 3)(torch.randn(2, 3).data)"):
        expression = parse_expression(text, fake=fake)
        message = refused(lambda e=expression: capture(e.module, e.args))
        assert "write x.detach() for x.data" in message


def test_modules_in_a_list():
    captured = capture(Listed(), (torch.randn(2, 3),))
    assert [i.kind for i in captured.inputs] == ["constant", "constant", "input"]
    with FakeTensorMode():
        module, x = Listed(), torch.randn(2, 3)
    assert "nn.ModuleList" in refused(lambda: capture(module, (x,)))


def test_an_argument_that_only_fake_tensors_take():
    with pytest.raises(UsageError) as caught:
        capture_text("x = torch.randn(3, 4)\nF.softmax(x, 2)")
    assert caught.value.where == "<-c>:2"
    assert caught.value.message.startswith("aten.softmax.int: dim 2 is out of range")


def test_an_error_of_the_users():
    with pytest.raises(UsageError) as caught:
        capture_text("x = torch.randn(2, 3)\ny = x + 1\nx @ y")
    assert caught.value.where == "<-c>:3:1"
    assert caught.value.message.endswith("\n    x @ y\n    ^")


def test_errors_do_not_mention_fake_tensors():
    with pytest.raises(UsageError, match="'Tensor' object has no attribute 'softmx'"):
        capture_text("torch.randn(3).softmx(0)")


@pytest.mark.parametrize("function", [lambda x: None, lambda x: 3])  # pyright: ignore
def test_no_tensor_is_returned(function: Any):
    with pytest.raises(UsageError, match="returns no tensor"):
        capture(function, (torch.ones(2),))


def test_lines_of_a_plain_function():
    def function(x: torch.Tensor, y: float = 2.0, *, z: float = 3.0):
        return torch.igamma(x, x) * y * z

    with pytest.raises(UnsupportedError, match=rf"igamma at {__file__}:\d+\)"):
        capture(function, (torch.ones(2),))


def test_not_callable():
    with pytest.raises(UsageError, match="not int"):
        capture(3, ())
    with pytest.raises(UsageError, match=r"ReLU is a class: capture a module, ReLU\(\)"):
        capture(nn.ReLU, (torch.ones(2),))


def test_what_is_printed_while_tracing_stays_off_stdout(capsys: pytest.CaptureFixture[str]):
    def function(x: torch.Tensor):
        print("tracing")
        return F.relu(x)

    capture(function, (torch.ones(2),))
    out, err = capsys.readouterr()
    assert out == ""
    assert "tracing" in err


def test_a_builtin_function_is_captured() -> None:
    """`torch.relu` has no signature that Python can read."""
    captured = capture(torch.relu, (torch.randn(2, 3),))
    assert "torch.relu" in str(captured.module)


def transposed(whole: torch.Tensor, part: torch.Tensor):
    return whole.t() + part


@pytest.mark.parametrize("wrap", [torch.Tensor, nn.Parameter])
def test_an_input_that_is_a_view_of_another(wrap: type[torch.Tensor]):
    whole = wrap(torch.randn(5, 3))
    captured = capture(transposed, (whole, whole.t()))
    assert op_names(captured) == ["torch.t", "torch.add"]


def test_an_input_that_is_a_view_of_a_parameter():
    layer = nn.Linear(3, 5)

    def function(x: torch.Tensor, w: torch.Tensor):
        return layer(x) @ w.t()

    captured = capture(function, (torch.randn(2, 3), layer.weight.t()))
    assert [i.name for i in captured.inputs] == ["layer.weight", "layer.bias", "x", "w"]


def test_the_last_state_of_an_lstm_is_right_or_refused():
    """PyTorch 2.11 gives the state an axis too many where it traces several sequences."""
    layer, x = nn.LSTM(3, 4, batch_first=True), torch.randn(2, 3, 3)

    def last(x: torch.Tensor) -> torch.Tensor:
        return layer(x)[1][0]

    if torch.__version__.startswith("2.11"):
        with pytest.raises(UnsupportedError, match="gets the last state of lstm wrong"):
            capture(last, (x,))
        return
    (output,) = capture(last, (x,)).outputs
    assert output.value.meta["val"].shape == (1, 2, 4)
