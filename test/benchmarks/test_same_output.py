# SPDX-License-Identifier: Apache-2.0
"""The outputs of two checkouts are compared, and differences are shown."""

from pathlib import Path

import pytest
import same_output

_COMMANDS = """
def main(argv):
    print(SAYS, argv[0])
    return 0
"""


def test_checkouts_print_with_their_own_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for root, says in (("base", "'old'"), ("here", "'new'"), ("equal", "'old'")):
        tools = tmp_path / root / "tilewright" / "tools"
        tools.mkdir(parents=True)
        (tools.parent / "__init__.py").touch()
        (tools / "cli.py").write_text(_COMMANDS.replace("SAYS", says))
    monkeypatch.setattr(same_output, "HERE", tmp_path / "here")
    given = ["--base", str(tmp_path / "base"), "--only", "silu_mul.tinyllama.s32"]
    assert same_output.main([*given, "--targets", "sm_80"]) == 1
    printed = capsys.readouterr().out
    assert "silu_mul.tinyllama.s32.sm_80.explain differs:" in printed
    assert "-old explain\n  +new explain\n" in printed
    assert printed.endswith("3 outputs compared, 3 differ, 0 failed\n")
    monkeypatch.setattr(same_output, "HERE", tmp_path / "equal")
    assert same_output.main([*given, "--targets", "sm_80"]) == 0


def test_differences_are_shown(tmp_path: Path):
    for name, text in (("before", "a\nb\n"), ("after", "a\nc\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.compile").write_text(text)
        (tmp_path / name / "y.compile").write_text("same")
    found = same_output.differences(tmp_path / "before", tmp_path / "after")
    assert found.keys() == {"x.compile"}
    assert found["x.compile"][-2:] == ["-b", "+c"]


def test_inputs_of_cases_are_written_out():
    case = {
        "expression": "t0 @ t1 + t2",
        "input_shapes": [[2, 3], [3, 4], [4]],
        "inputs": {"t2": {"full": -1.0, "triu": 1}},
    }
    written = "torch.randn(2, 3) @ torch.randn(3, 4) + torch.full([4], -1.0).triu(1)"
    assert same_output.expression(case) == written
