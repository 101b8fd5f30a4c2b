# SPDX-License-Identifier: Apache-2.0
"""`-c` text: the parts that become inputs, submodules or constants, and errors for bad text."""

import time

import pytest
import torch
from torch import nn

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.capture import capture
from tilewright.frontend.expression import Expression, parse_expression


def names(expression: Expression) -> list[str]:
    """Return the names of the inputs, then those of the parameters."""
    code = expression.module.forward.__code__
    inputs = code.co_varnames[: code.co_argcount]
    return [*inputs, *(name for name, _ in expression.module.named_parameters())]


def seed(value: int) -> None:
    torch.random.manual_seed(value)  # pyright: ignore[reportUnknownMemberType]


def value(expression: Expression) -> torch.Tensor:
    return expression.module(*expression.args)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.randn(3)", ["t0"]),
        ("torch.relu(torch.randn(2, 3) @ torch.ones(3, 4))", ["t0", "t1"]),
        ("x = torch.randn(4, 8); F.softmax(x, -1)", ["x"]),
        ("x: torch.Tensor = torch.randn(4)\nx + torch.rand(4)", ["x", "t0"]),
        ("x = torch.arange(4).float(); x + 1", ["x"]),
        ("x = torch.randn(4).relu(); x", ["t0"]),
        ("from torch import randn\nrandn(3) * 2", ["t0"]),
        ("t0 = 2; torch.randn(3) * t0", ["t0_1"]),
        ("x = torch.randn(3); y = x + 1; x = torch.ones(3); x + y", ["x", "t0"]),
        ("F.relu(nn.Linear(4, 4)(torch.randn(2, 4)))", ["t0", "linear.weight", "linear.bias"]),
        ("m = nn.RMSNorm(4)\nm(torch.randn(4))", ["t0", "m.weight"]),
        ("nn.RMSNorm(4)(nn.RMSNorm(4)(torch.ones(4)))",
         ["t0", "rmsnorm.weight", "rmsnorm_1.weight"]),
        ("nn.Embedding.from_pretrained(torch.ones(3, 4)).weight + torch.ones(4)",
         ["t0", "embedding.weight"]),
        ("forward = nn.RMSNorm(4)\nforward(torch.ones(4))", ["t0", "forward_.weight"]),
        (
            "ms = [nn.RMSNorm(2) for _ in range(2)]\nx = torch.randn(2)\nfor m in ms: x = m(x)\nx",
            ["x", "ms.0.weight", "ms.1.weight"],
        ),
        ("w = nn.Embedding(3, 4).weight.detach()\nw * 2", ["w"]),
        ("nn.Parameter(torch.randn(3)) * 2", ["t0"]),
        ("a, b = torch.randn(3), torch.randn(3).to(torch.float64); a + b", ["a", "b"]),
        ("torch.maximum(*[torch.randn(3) for _ in range(2)])", ["t0", "t1"]),
        ("q, k = (torch.randn(n) for n in (3, 1))\nq * k", ["t0", "t1"]),
    ],
)  # fmt: skip
def test_names(text: str, expected: list[str]):
    assert names(parse_expression(text, fake=True)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "torch.randn(4, 4) + nn.Linear(4, 4)(torch.randn(4)) * torch.rand(4)",
        "n = 4\nx = torch.randn(n)\nn = n + x.sum()\nx * n",
        "x = torch.randn(3)\ny = x * 2\nn = 2\nfor i in range(n): y = y * x + i\ny",
        "def f(a, b=math.sqrt(2)): return a * b\nf(torch.randn(3)) - f(torch.ones(3), 3)",
        "class Net(nn.Module):\n"
        "    def __init__(self, n):\n"
        "        super().__init__()\n"
        "        self.fc = nn.Linear(n, n)\n"
        "    def forward(self, x):\n"
        "        return F.gelu(self.fc(x)) + x\n"
        "Net(4)(torch.randn(2, 4))",
        "s = [2]; x = torch.randn(3); y = x * s[0]; s[0] = 3; y * s[0]",
        "x = torch.randn(3); f = lambda a: a + x; x = x * 2; f(x)",
        "n = 2; x = torch.randn(3); y = x * n; n = 3; y * n",
        "x, y = torch.randn(3), torch.randn(3); x - y",
        "x = y = torch.randn(3); x * y",
        "n = 3\nq, k = (torch.randn(n) for _ in range(2))\nq / k",
        "torch.randn(3) if 1 < 2 else torch.ones(3)",
    ],
)
def test_value_is_what_the_program_computes(text: str):
    """
    Check that a text computes the values that it would compute as a program with the same seed.
    """
    seed(7)
    scope = {"torch": torch, "nn": nn, "F": nn.functional, "math": __import__("math")}
    *statements, last = text.replace("; ", "\n").split("\n") if "; " in text else text.split("\n")
    exec("\n".join(statements), scope)
    expected = eval(last, scope)
    torch.testing.assert_close(value(parse_expression(text, seed=7)), expected)


def test_seed():
    same = [parse_expression("torch.randn(3)", seed=5).args[0] for _ in range(2)]
    other = parse_expression("torch.randn(3)", seed=6).args[0]
    assert torch.equal(*same)
    assert not torch.equal(same[0], other)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("m = nn.Dropout(0.5); m.train(); m(torch.randn(4))", 1),
        ("x = torch.randn(4)\nnn.Dropout(0.5).train()(x)", 2),
        ("m = nn.Sequential(nn.Dropout(0.5))\nm.eval()\nm.train(True)\nm(torch.randn(4))", 3),
        ("m = nn.Dropout(0.5)\nm.training = True\nm(torch.randn(4))", 2),
        ("m = nn.Dropout(0.5)\nsetattr(m, 'training', 1)\nm(torch.randn(4))", 2),
    ],
)
def test_training_mode_is_refused(text: str, line: int):
    """Without the error, the program would be compiled silently for inference."""
    with pytest.raises(UnsupportedError, match=r"train.*: training mode is not supp") as error:
        parse_expression(text)
    assert error.value.where == f"<-c>:{line}"


@pytest.mark.parametrize("call", ["m.eval()", "m.train(False)", "m.training = False"])
def test_eval_mode_may_be_requested(call: str):
    expression = parse_expression(f"m = nn.Dropout(0.5); {call}; m(torch.ones(4))")
    assert torch.equal(value(expression), torch.ones(4))
    expression.module.train()  # after the text, modes are up to the caller
    assert expression.module.training


def test_the_callers_random_state_is_unchanged():
    seed(0)
    expected = torch.rand(1)
    seed(0)
    parse_expression("torch.randn(3)", seed=5)
    assert torch.equal(torch.rand(1), expected)


def test_fake_allocates_nothing():
    start = time.process_time()
    expression = parse_expression("torch.softmax(torch.randn(64, 28, 2048, 2048), -1)", fake=True)
    assert time.process_time() - start < 1
    assert expression.args[0].shape == (64, 28, 2048, 2048)


def test_what_the_text_prints_stays_off_stdout(capsys: pytest.CaptureFixture[str]):
    parse_expression("print('hello'); torch.randn(3)")
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("text", "place", "message", "caret"),
    [
        ("", "<-c>", "the text is empty", None),
        ("x = 3", "<-c>:1:1", "must end in an expression", 0),
        ("x = 3\nimport math", "<-c>:2:1", "must end in an expression", 0),
        ("torch.randn(3", "<-c>:1:12", "'(' was never closed", 11),
        ("3 + 4", "<-c>:1:1", "of type int, not a tensor", 0),
        ("nn.Linear(3, 4)", "<-c>:1:1", "of type Linear, not a tensor: call it", 0),
        ("torch.randn(2)\n(foo)(3)", "<-c>:2:2", "'foo' is not defined; a text knows torch, nn", 1),
        ("é = 1\né + û", "<-c>:2:5", "NameError: name 'û' is not defined", 4),
        ("x = 1\nexit()\nx", "<-c>:2:1", "SystemExit", 0),
        ("nn.Linear(3)(torch.randn(3))", "<-c>:1:1", "missing 1 required positional", 0),
        ("x = torch.randn(3)\ny = 2 * (1 / 0)\nx", "<-c>:2:10", "division by zero", 9),
        ("k = 2\ndef f(a): return a * k\nx = torch.ones(3)\nk = x.sum()\nf(x)", "<-c>:4:1",
         "'k' is assigned here, but 'f' uses it too", 0),
        ("x = 3\nyield x", "<-c>:2:1", "'yield' outside function", 0),
        ("-" * 20_000 + "torch.randn(3)", "<-c>", "nested too deeply", None),
        ("torch.randn(3)" + ".sin()" * 500, "<-c>", "nested too deeply", None),
        ("def f(n): return f(n)\ntorch.randn(f(3))", "<-c>:1:18", "maximum recursion depth", None),
        ("torch.randn(3)\neval('x + 1')", "<-c>:2:1", "name 'x' is not defined", 0),
    ],
)  # fmt: skip
def test_bad_text(text: str, place: str, message: str, caret: int | None):
    with pytest.raises(UsageError) as caught:
        parse_expression(text)
    assert caught.value.where == place
    first, *shown = caught.value.message.split("\n")
    assert message in first
    if caret is not None:
        line = int(place.split(":")[1])
        assert shown == [f"    {text.splitlines()[line - 1]}", "    " + " " * caret + "^"]


@pytest.mark.parametrize("text", ["x.shape", "x.sum", "f'{x}'"])
def test_a_result_that_turns_out_to_be_no_tensor(text: str):
    expression = parse_expression(f"x = torch.randn(3)\n{text}")
    with pytest.raises(UsageError, match=r"<-c>:2:1: the value is of type \w+, not a tensor"):
        capture(expression.module, expression.args)
