# SPDX-License-Identifier: Apache-2.0
"""`tilewright compile --plan FILE`."""

from functools import partial
from pathlib import Path

import pytest

from ..conftest import Tilewright

# A product and its softmax: two kernels, with a buffer between them.
PROGRAM = ("-c", "torch.softmax(torch.randn(8, 300) @ torch.randn(300, 40), -1)")


@pytest.fixture
def compile(tilewright: Tilewright) -> Tilewright:
    """The command `tilewright compile`."""
    return partial(tilewright, "compile")


def test_the_plan_in_the_place_of_the_ir(compile: Tilewright) -> None:
    code, out, err = compile(*PROGRAM, "--plan", "-")
    assert (code, err) == (0, "")
    assert out.startswith("launches ")
    assert "slab of intermediate buffers" in out
    assert "__global__" not in out


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "start"), [("p.txt", "launches "), ("p.md", "```mermaid\n"), ("p.dot", "digraph ")]
)
def test_the_plan_beside_the_ir(name: str, start: str, compile: Tilewright) -> None:
    _, alone, _ = compile(*PROGRAM, "--ir", "tile")
    code, out, err = compile(*PROGRAM, "--ir", "tile", "--plan", name)
    assert (code, out, err) == (0, alone, f"wrote {name}\n")
    text = Path(name).read_text()
    assert text.startswith(start)
    compile(*PROGRAM, "--plan", name)
    assert Path(name).read_text() == text


def test_both_to_files(compile: Tilewright) -> None:
    written = "wrote p.txt\nwrote x.cu\n"
    assert compile(*PROGRAM, "--plan", "p.txt", "-o", "x.cu") == (0, "", written)
    assert "__global__" in Path("x.cu").read_text()
    assert compile(*PROGRAM, "--plan", "-")[1] == Path("p.txt").read_text()


def test_a_file_of_ir(compile: Tilewright) -> None:
    compile(*PROGRAM, "--ir", "loop", "-o", "x.mlir")
    assert compile("x.mlir", "--plan", "-") == compile(*PROGRAM, "--plan", "-")


def test_invalid_names(compile: Tilewright) -> None:
    code, out, err = compile(*PROGRAM, "--plan", "plan.svg")
    assert (code, out) == (2, "")
    assert err == (
        "error: 'plan.svg' is not a file name for a plan "
        "(names end in .txt (text), .md (Mermaid) or .dot (Graphviz))\n"
    )
    code, _, err = compile(*PROGRAM, "--plan", "no/such/folder/p.txt")
    assert code == 2
    assert "cannot write 'no/such/folder/p.txt'" in err
