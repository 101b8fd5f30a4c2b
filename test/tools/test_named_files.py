# SPDX-License-Identifier: Apache-2.0
"""Missing files and folders are reported before anything heavy is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.tools.cli import main

from .conftest import Tilewright

NO_FILE = "No such file or directory\n"
MISSING = {
    "run nofile.mlir": f"error: cannot read 'nofile.mlir': {NO_FILE}",
    "compile nofile.pt2": f"error: cannot read 'nofile.pt2': {NO_FILE}",
    "compile nofile.py:f": f"error: cannot read 'nofile.py': {NO_FILE}",
    "explain nofile.py": f"error: cannot read 'nofile.py': {NO_FILE}",
    "run here.mlir --against nofile": f"error: cannot read 'nofile': {NO_FILE}",
    "run here.mlir --inputs no/x.safetensors": f"error: cannot read 'no/x.safetensors': {NO_FILE}",
    "run here.mlir/x.mlir": "error: cannot read 'here.mlir/x.mlir': Not a directory\n",
    "run here.mlir --against folder": "error: cannot read 'folder': Is a directory\n",
    "compile ./nomodel": "error: there is no folder './nomodel' (a model is a folder with",
    "run folder --prompt x": "error: the folder 'folder' has no config.json (a model's folder is",
    "generate ./nomodel --prompt x --max-new-tokens 3": "error: there is no folder './nomodel' (",
    "bench nosuite.json": f"error: cannot read 'nosuite.json': {NO_FILE}",
    "bench --static nosuite.json": f"error: cannot read 'nosuite.json': {NO_FILE}",
    "bench --model ./nomodel --block": "error: there is no folder './nomodel' (a model is a folder",
    "tune nosuite.json --evaluator model": f"error: cannot read 'nosuite.json': {NO_FILE}",
    "tune nofile.pt2 --space": f"error: cannot read 'nofile.pt2': {NO_FILE}",
    "db import nofile": f"error: cannot read 'nofile': {NO_FILE}",
    "simcheck nofolder": "error: there is no folder 'nofolder' (run it in a checkout, or name",
}


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        (["compile", ""], "FILE"),
        (["compile", "-c", "1", "-o", ""], "-o"),
        (["run", "x.mlir", "--db", ""], "--db"),
        (["simcheck", ""], "SOURCE"),
        (["bench", "--model", ""], "--model"),
        (["db", "import", ""], "FILE"),
    ],
)
def test_an_empty_name_is_an_error(
    command: list[str], argument: str, capsys: pytest.CaptureFixture[str]
):
    assert main(command) == 2
    assert f"error: argument {argument}: the name is empty (" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "run", "explain"])
def test_a_damaged_database_is_reported_before_the_program_is_read(
    command: str, tilewright: Tilewright
):
    Path("junk.sqlite").write_text("junk")
    code, _, err = tilewright(command, "-c", "nonsense(", "--db", "junk.sqlite")
    assert (code, err) == (1, "error: the database 'junk.sqlite': file is not a database\n")


def test_a_new_database_need_not_exist(tilewright: Tilewright):
    tuned = tilewright("tune", "-c", "nonsense(", "--evaluator", "model", "--db", "new.sqlite")
    assert "database" not in tuned.err


@pytest.mark.parametrize("command", ["bench --static", "tune --evaluator model"])
def test_a_suite_without_cases(command: str, tilewright: Tilewright):
    Path("suite.json").write_text('{"cases": []}')
    code, _, err = tilewright(*command.split(), "suite.json")
    assert (code, err) == (2, "error: 'suite.json' has no cases\n")


PROBE = """
import sys
from tilewright.tools.cli import main
assert main(sys.argv[1:]) == 2
print(sorted({"torch", "numpy", "xdsl", "transformers"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("arguments", MISSING)
def test_a_file_that_is_not_there(arguments: str, tilewright: Tilewright):
    Path("here.mlir").write_text("builtin.module {}\n")
    Path("folder").mkdir()
    result = tilewright(*arguments.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(MISSING[arguments])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("arguments", ["run nofile.mlir", "compile nofile.py:f", "run ./nomodel"])
def test_nothing_heavy_is_imported(arguments: str, tmp_path: Path):
    command = [sys.executable, "-c", PROBE, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"


def test_a_pipe_is_not_read_twice(tilewright: Tilewright, tmp_path: Path):
    """A file that can be read only once, as `<(...)` of a shell, is read by the command itself."""
    script = 'exec "$0" -c "from tilewright.tools.cli import main; main()" compile <(echo "$1")'
    text = "func.func @main() {\n  func.return\n}"
    command = ["bash", "-c", script, sys.executable, text]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_streams_leave_no_warning():
    command = [sys.executable, "-W", "error", "-m", "tilewright.tools.cli", "--version"]
    shell = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *command]
    done = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert done.stderr == ""
