# SPDX-License-Identifier: Apache-2.0
"""Models from `model.pt2` and `file.py:NAME`: their inputs, and errors for missing parts."""

import re
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile

import pytest
import torch
from damage import damaged, retyped
from draws import drawn
from torch import nn
from torch.export import Dim

from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.model_file import load_model
from tilewright.frontend.open_sizes import FixedSizeWarning
from tilewright.tools.cli import main

MODELS = '''\
"""Models of all kinds."""
from dataclasses import dataclass

import torch
from torch import nn

from beside import WIDTH


@dataclass
class Config:
    width: int = WIDTH


class Net(nn.Module):
    def __init__(self, config=Config()):
        super().__init__()
        self.fc = nn.Linear(config.width, 2)

    def forward(self, x, scale=1.0):
        return self.fc(x) * scale

    def example_inputs(self):
        return torch.randn(3, self.fc.in_features), 2.0


class Needs(nn.Module):
    def __init__(self, n):
        super().__init__()


class Plain:
    pass


net = Net()
bare = nn.ReLU()


def make():
    print("made")
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU())


def double(x):
    return x * 2


def named(*, x, y):
    return x - y


def none():
    return torch.ones(3) + 1


def fails():
    return 1 / 0


def wrong(x):
    y = x + 1
    return y @ y


named.example_inputs = {"y": torch.ones(2), "x": torch.zeros(2)}
bare.example_inputs = torch.ones(5)
wrong.example_inputs = lambda: (torch.ones(2, 3),)
number = 3
program = torch.export.export(bare, (torch.ones(6),))


class Space:
    inner = nn.Sigmoid()


example_inputs = (torch.randn(4),)
'''


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Current folder of the test, with a file of models."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("WIDTH = 4\n")
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def captured(text: str) -> Captured:
    model = load_model(text)
    return capture(model.module, model.args, model.kwargs)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "inputs", "result"),
    [
        ("Net", ["fc.weight", "fc.bias", "x"], (3, 2)),
        ("net", ["fc.weight", "fc.bias", "x"], (3, 2)),
        ("bare", ["input"], (5,)),
        ("make", ["0.weight", "0.bias", "input"], (4,)),
        ("double", ["x"], (4,)),
        ("named", ["y", "x"], (2,)),
        ("Space.inner", ["input"], (4,)),
        ("none", [], (3,)),
        ("program", ["input"], (6,)),
    ],
)
def test_what_a_file_may_name(name: str, inputs: list[str], result: tuple[int, ...], models: Path):
    found = captured(f"models.py:{name}")
    assert [i.name for i in found.inputs] == inputs
    (output,) = found.outputs
    assert tuple(output.value.meta["val"].shape) == result


def test_keyword_arguments_come_by_name(models: Path):
    found = captured("models.py:named")
    tensors = {i.name: i.tensor for i in found.inputs}
    assert torch.equal(tensors["x"], torch.zeros(2))
    assert torch.equal(tensors["y"], torch.ones(2))


def test_a_seed_applies_to_the_file(models: Path):
    one, same, other = (load_model("models.py:double", seed).args[0] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_what_a_file_prints_stays_off_stdout(models: Path, capsys: pytest.CaptureFixture[str]):
    load_model("models.py:make")
    assert capsys.readouterr() == ("", "made\n")


def error_of(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        captured(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (":nett", "'models.py' has no nett (did you mean net?)"),
        (":Space.outer", "'models.py' has no Space.outer"),
        (":number", "models.py:number gives an object of type int, not a module or a function"),
        (":Plain", "models.py:Plain gives an object of type Plain, not a module or a function"),
        (":Needs", "'Needs' cannot be constructed: TypeError: Needs.__init__() missing 1 required"),
        (":fails", "models.py:58:12: 'fails' cannot be constructed: ZeroDivisionError: division"),
        (":wrong", "models.py:63:12: RuntimeError: "),
        (
            "",
            "'models.py' is Python: name the model in it, as in models.py:NAME (it defines ",
        ),
    ],
)
def test_mistakes_in_the_name_are_reported(name: str, message: str, models: Path):
    found = error_of(f"models.py{name}")
    assert found.removeprefix(f"{models}/").startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1 +\n", "other.py:1:8: not Python: invalid syntax\n    x = 1 +\n           ^"),
        ("\nimport nowhere\n", "other.py:2:1: ModuleNotFoundError: No module named 'nowhere'"),
        ("def f(x):\n    return x\n", "the inputs of other.py:f are not known (set f.exam"),
        (
            "def f(x):\n    return x\nexample_inputs = 3\n",
            "example_inputs of other.py:f is of type int",
        ),
        (
            "def f(x):\n    return x\ndef example_inputs():\n    exit()\n",
            "other.py:4:5: example_in",
        ),
    ],
)
def test_mistakes_in_the_file_are_reported(text: str, message: str, models: Path):
    Path("other.py").write_text(text)
    assert error_of("other.py:f").removeprefix(f"{models}/").startswith(message)


def test_missing_files(models: Path):
    for name in ("no.py", "no.py:f", "no.pt2"):
        assert error_of(name).startswith(f"cannot read '{name.removesuffix(':f')}': No such file")


def test_a_damaged_pt2_file_is_one_error(models: Path, capsys: pytest.CaptureFixture[str]):
    Path("bad.pt2").write_text("nothing")
    assert main(["compile", "bad.pt2"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: cannot read 'bad.pt2': ")
    assert error.count("\n") == 1


# --- .pt2


class Scaled(nn.Module):
    """Module with a parameter, and a buffer that it writes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.count: torch.Tensor
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor, scale: float):
        self.count += 1
        return F(self.fc(x)) * scale


F = torch.nn.functional.relu


def saved(path: Path, **options: Any) -> Any:
    """Return an exported program that is also saved to `path`."""
    with torch.no_grad():
        program = torch.export.export(Scaled().eval(), (torch.randn(3, 4), 2.0), **options)
    torch.export.save(program, path)
    return program


def test_a_pt2_file_has_its_inputs(models: Path):
    program = saved(models / "m.pt2")
    for found in (captured("m.pt2"), capture(program, ())):
        assert [i.name for i in found.inputs] == ["fc.weight", "fc.bias", "count", "x"]
        assert [i.name for i in found.mutated] == ["count"]
        assert torch.equal(found.inputs[3].tensor, program.example_inputs[0][0])
        assert "torch.linear" in str(found.module)


def test_a_pt2_file_whose_weights_are_damaged_is_refused(models: Path):
    program, path = saved(models / "m.pt2"), models / "m.pt2"
    content, weight = path.read_bytes(), program.state_dict["fc.weight"].detach().numpy().tobytes()
    at = content.index(weight)
    path.write_bytes(content[:at] + bytes([weight[0] ^ 1]) + content[at + 1 :])
    assert re.fullmatch(r"cannot read 'm\.pt2': .* '.*weight_?\S*' is damaged.*", error_of("m.pt2"))


def test_a_pt2_file_with_open_sizes_takes_those_of_its_inputs(models: Path):
    """The sizes are fixed with a warning: a call with another size is refused."""
    program = saved(models / "m.pt2", dynamic_shapes=({0: Dim("n", min=2, max=64)}, None))
    message = (
        "dimension 0 of the input 'x' may be 2 to 64, but is compiled for 3 alone: calls with "
        "another size are refused"
    )
    with pytest.warns(FixedSizeWarning, match=message):
        assert "tensor<3x2xf32>" in str(captured("m.pt2").module)
    with pytest.warns(FixedSizeWarning, match="compiled for 5 alone"):
        capture(program, (torch.randn(5, 4), 2.0))


class Masked(nn.Module):
    """Module that takes inputs by name."""

    def forward(self, x: torch.Tensor, *, mask: torch.Tensor, w: torch.Tensor):
        return (x * mask) @ w


def test_inputs_by_name_may_come_in_any_order():
    x, mask, w = torch.randn(5, 4), torch.randn(5, 4), torch.randn(4, 3)
    program = torch.export.export(Masked(), (x,), {"mask": mask, "w": w})
    found = capture(program, (x,), {"w": w, "mask": mask})
    assert [i.name for i in found.inputs] == ["x", "mask", "w"]
    assert [tuple(i.tensor.shape) for i in found.inputs] == [(5, 4), (5, 4), (4, 3)]


def test_an_exported_program_with_other_inputs(models: Path):
    program = saved(models / "m.pt2", dynamic_shapes=({0: Dim("n")}, None))
    with pytest.warns(FixedSizeWarning, match="may be any size from 0 on"):
        assert "tensor<7x2xf32>" in str(capture(program, (torch.randn(7, 4), 2.0)).module)
    with pytest.raises(TilewrightError), pytest.warns(FixedSizeWarning):
        capture(program, (torch.randn(7, 5), 2.0))


def test_an_exported_program_without_inputs(models: Path):
    program = saved(models / "m.pt2")
    program.example_inputs = None
    with pytest.raises(UsageError, match="has no example inputs"):
        capture(program, ())


def test_damaged_pt2_files_are_clean_errors(models: Path, capsys: pytest.CaptureFixture[str]):
    """
    Damaged files either compile or cannot be read; damaged are the archive and the JSON in it.
    """
    saved(models / "m.pt2")
    whole, random = (models / "m.pt2").read_bytes(), Random(0)
    with ZipFile(models / "m.pt2") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    texts = [name for name in parts if name.endswith(".json")]
    for number in range(drawn(80)):
        with ZipFile("bad.pt2", "w") as archive:
            name = random.choice(texts)
            text = retyped(parts[name].decode(), random)
            for each, content in {**parts, name: text.encode()}.items():
                archive.writestr(each, content)
        if number % 4 == 0:
            Path("bad.pt2").write_bytes(damaged(whole, random))
        assert main(["compile", "bad.pt2", "--ir", "torch"]) in (0, 2)
        assert "Traceback" not in capsys.readouterr().err
