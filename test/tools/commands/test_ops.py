# SPDX-License-Identifier: Apache-2.0
"""`tilewright ops`, and the page `docs/ops.md` that it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.dialects.torch import FAMILIES, OPS
from tilewright.dialects.torch.op import TorchOp
from tilewright.frontend.unsupported import UNSUPPORTED
from tilewright.tools import cli
from tilewright.tools.ops_table import Family, arguments_of, families

PAGE = Path(__file__).parents[3] / "docs" / "ops.md"
OPERATORS = {op.ATEN.partition(".")[0] for op in OPS}


def test_without_docstrings_there_is_no_table(monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """`python -OO` removes docstrings."""
    monkeypatch.setattr(OPS[0], "__doc__", None)
    code, out, err = ops(capsys, "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: the table is read from docstrings, which Python drops with -OO")


def ops(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `tilewright ops`; return its exit code, output and errors."""
    code = cli.main(["ops", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_page_is_up_to_date(capsys: pytest.CaptureFixture[str]):
    code, out, _ = ops(capsys, "--markdown")
    assert code == 0
    if out != PAGE.read_text():
        pytest.fail(
            "docs/ops.md is not what the table says: tilewright ops --markdown > docs/ops.md"
        )


def test_the_page_has_every_operator_and_refusal():
    text = PAGE.read_text()
    assert [op.ATEN for op in OPS if f"\n| `{op.ATEN}(" not in text] == []
    names = [name.removeprefix("aten.") for name in UNSUPPORTED]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_there_are_enough_of_them():
    assert len(OPERATORS) >= 120


def test_all_are_listed_by_family_and_counted(capsys: pytest.CaptureFixture[str]):
    code, out, err = ops(capsys)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    families = [line for line in lines if ": Torch ops " in line]
    assert len(families) == len(FAMILIES)
    assert OPERATORS <= {line.partition(" ")[0] for line in lines}
    assert lines[-1] == (
        f"{len(OPERATORS)} operators in {len(OPS)} overloads; "
        f"{len(UNSUPPORTED)} are refused by name"
    )


def test_names_show_details(capsys: pytest.CaptureFixture[str]):
    code, out, _ = ops(capsys, "softmax", "add.Tensor")
    assert code == 0
    assert out.splitlines() == [
        "add.Tensor(Tensor input, Tensor other, Scalar alpha=1)",
        "  input + alpha * other.",
        "  %2 = torch.add %0, %1 alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> "
        "tensor<16x64xf32>",
        "softmax.int(Tensor input, int dim, ScalarType? dtype=None)",
        "  exp(input) divided by its sum along `dim`.",
        "  %1 = torch.softmax.int %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>",
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "signatures"),
    [
        ("relu", {"relu"}),
        ("aten::relu_", {"relu"}),
        ("aten.relu.default", {"relu"}),
        ("torch.softmax.int", {"softmax.int"}),
        ("sub", {"sub.Tensor", "sub.Scalar"}),
        ("sub_.Scalar", {"sub.Scalar"}),
    ],
)
def test_a_name_may_have_any_common_spelling(
    name: str, signatures: set[str], capsys: pytest.CaptureFixture[str]
):
    _, out, _ = ops(capsys, name)
    assert {line.partition("(")[0] for line in out.splitlines()[::3]} == signatures


def test_refused_operators_have_a_reason(capsys: pytest.CaptureFixture[str]):
    code, out, _ = ops(capsys, "topk", "fft_rfft", "cond", "dropout")
    assert code == 0
    assert out.splitlines() == [
        "topk",
        "  refused: there is no sorting (compute it outside and pass the result in as an input; "
        "amax and argmax give the largest)",
        "fft_rfft",
        "  refused: there are no complex numbers (compute with real and imaginary parts apart)",
        "cond",
        "  refused: which branch runs depends on values (use torch.where)",
        "dropout",
        "  refused: only in training mode: it draws random numbers in training mode (call eval() "
        "on the module, or pass training=False)",
    ]


def test_an_operator_may_be_refused_in_part(capsys: pytest.CaptureFixture[str]):
    _, out, _ = ops(capsys, "scaled_dot_product_attention", "view")
    refused = "  refused with dropout_p: dropout draws random numbers (pass dropout_p=0)"
    assert refused in out.splitlines()
    assert "view(Tensor input, int[] size)" in out
    assert "view.dtype\n  refused: it reads the bits" in out
    _, out, _ = ops(capsys, "where.default")
    assert out.startswith("where.default\n  refused: the number of elements")


def test_refusals_alone(capsys: pytest.CaptureFixture[str]):
    code, out, _ = ops(capsys, "--unsupported")
    assert code == 0
    assert "higher_order.while_loop" in out
    assert "only with a boolean mask: the size of a boolean mask's selection" in out
    assert out.splitlines()[-1] == f"{len(UNSUPPORTED)} are refused by name"
    assert "softmax" not in out


def test_json(capsys: pytest.CaptureFixture[str]):
    code, out, _ = ops(capsys, "--json", "add.Tensor", "topk")
    assert code == 0
    report = json.loads(out)
    assert report["counts"] == {"operators": 1, "overloads": 1, "refused": 1}
    (add,) = report["supported"]
    assert (add["aten"], add["op"], add["family"]) == ("add.Tensor", "torch.add", "binary")
    assert add["arguments"] == [
        {"name": "input", "kind": "Tensor", "default": None},
        {"name": "other", "kind": "Tensor", "default": None},
        {"name": "alpha", "kind": "Scalar", "default": "1"},
    ]
    assert report["refused"][0]["reason"] == "there is no sorting"
    _, out, _ = ops(capsys, "--json")
    assert {op["op"] for op in json.loads(out)["supported"]} == {op.name for op in OPS}


@pytest.mark.parametrize("arguments", [["sofmax"], ["--json", "sofmax"], ["torch.sofmax"]])
def test_an_unknown_name_is_an_error(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    code, out, err = ops(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: 'torch.sofmax'" if "." in arguments[0] else "error: 'sofmax'")
    assert "did you mean softmax" in err


@pytest.mark.parametrize("arguments", [["topk", "expp"], ["expp", "topk", "sofmax"]])
def test_good_names_are_printed_beside_an_error_for_each_other(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
):
    code, out, err = ops(capsys, *arguments)
    assert code == 2
    assert out == ops(capsys, "topk")[1]
    unknown = [name for name in arguments if name != "topk"]
    for name, line in zip(unknown, err.splitlines(), strict=True):
        assert line.startswith(f"error: '{name}' is not in the table")
        assert "did you mean " in line


def test_good_names_are_in_the_json_beside_an_error(capsys: pytest.CaptureFixture[str]):
    code, out, err = ops(capsys, "--json", "topk", "expp")
    assert (code, err.count("error: ")) == (2, 1)
    assert out == ops(capsys, "--json", "topk")[1]


def test_nothing_near(capsys: pytest.CaptureFixture[str]):
    code, _, err = ops(capsys, "qqqqqqqq")
    assert (code, err.endswith("(tilewright ops lists them)\n")) == (2, True)


@pytest.mark.parametrize(
    "arguments", [["--markdown", "relu"], ["--unsupported", "relu"], ["--json", "--markdown"]]
)
def test_options_that_exclude_each_other(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    code, out, err = ops(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "error: " in err


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_example_is_of_its_operator(family: Family):
    for overload in family.overloads:
        assert overload.example.startswith("%")
        assert f" = {overload.op} " in overload.example
        assert "%" not in overload.summary + overload.notes


def test_notes_are_lines_of_their_own(capsys: pytest.CaptureFixture[str]):
    _, out, _ = ops(capsys, "scaled_dot_product_attention")
    assert out.splitlines()[2].startswith("  `attn_mask` is added to the scores")
    assert out.splitlines()[3].startswith("  %3 = torch.scaled_dot_product_attention")


def kinds_of(op: type[TorchOp]) -> dict[str, str]:
    """Return the kinds of an op's arguments in PyTorch's schema, in the table's spelling."""
    import torch

    operator, _, overload = op.ATEN.partition(".")
    schema = getattr(getattr(torch.ops.aten, operator), overload or "default")._schema
    names = [str(argument.name) for argument in schema.arguments]
    names = ["input" if name == "self" else name for name in names]
    kinds = dict(zip(names, [str(a.real_type) for a in schema.arguments], strict=True))
    spelled = {
        "number": "Scalar",
        "SymInt": "int",
        "Device": "str",
        "Generator": "str",
        "Layout": "str",
        "MemoryFormat": "str",
    }
    return {name: _spelled(kind, spelled) for name, kind in kinds.items()}


def _spelled(kind: str, spelled: dict[str, str]) -> str:
    for prefix, suffix in (("Optional[", "?"), ("List[", "[]")):
        if kind.startswith(prefix):
            return _spelled(kind.removeprefix(prefix)[:-1], spelled) + suffix
    return spelled.get(kind, kind)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_kinds_are_those_of_the_schema(op: type[TorchOp]):
    expected = kinds_of(op)
    assert {a.name: a.kind for a in arguments_of(op)} == expected
