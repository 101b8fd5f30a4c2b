# SPDX-License-Identifier: Apache-2.0
"""Shell completion: words that bash offers with the script of `register-python-argcomplete`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.tools.completion import python_names, schedules

ASK = """
_asked() {
  COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9
  read -ra COMP_WORDS <<< "$1"
  [[ "$1" == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _python_argcomplete "${COMP_WORDS[0]}"
  echo "${COMPREPLY[*]}"
}
"""

LINES = {
    "tilewright comp": "compile ",
    "tilewright compile --ir ": "torch tensor loop tile kernel cuda",
    "tilewright run --target sm_9": "sm_90a ",
    "tilewright blame -p to-l": "to-loop ",
    "tilewright ops soft": "softmax softplus softshrink",
    "tilewright compile mod": "model.mlir model.py",
    "tilewright sim mod": "model.cu ",
    "opt-tool -p to-l": "to-loop ",
}


def asked(lines: Sequence[str], folder: Path) -> list[str]:
    """Return bash's completions of each of the lines."""
    scripts = [f'eval "$(register-python-argcomplete {t})"' for t in ("tilewright", "opt-tool")]
    questions = [f"_asked {shlex.quote(line)}" for line in lines]
    script = "\n".join([*scripts, ASK, *questions])
    tools = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join([tools, os.environ["PATH"]])}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_bash_completes(tmp_path: Path):
    for name in ("model.py", "model.mlir", "other.mlir", "model.cu"):
        (tmp_path / name).touch()
    found = dict(zip(LINES, asked([*LINES], tmp_path), strict=True))
    sorted_words = {line: sorted(words.split()) for line, words in found.items()}
    assert sorted_words == {line: sorted(words.split()) for line, words in LINES.items()}


@pytest.mark.parametrize(
    ("prefix", "completed"),
    [
        ("tilei", ["tileify"]),
        ("tileify,mark", ["tileify,mark-unroll"]),
        ("exp=tileify,mark", ["exp=tileify,mark-unroll"]),
        ("blockify-launch{m=8 n=4},mark", ["blockify-launch{m=8 n=4},mark-unroll"]),
        ("stage-inputs{raw=a,b},mark", ["stage-inputs{raw=a,b},mark-unroll"]),
        (
            "blockify-launch{",
            [
                f"blockify-launch{{{name}="
                for name in ("target", "planned_only", "m", "n", "raster", "width")
            ],
        ),
        ("tileify,blockify-launch{m=8 n", ["tileify,blockify-launch{m=8 n="]),
        ("register-tile{min", ["register-tile{min_blocks="]),
        ("blockify-launch{m=", []),
        ("no-such-pass{", []),
        ("zzz", []),
    ],
)
def test_passes_and_their_options(prefix: str, completed: list[str]):
    assert schedules(prefix) == completed


def test_names_in_a_python_file(tmp_path: Path):
    path = tmp_path / "model.py"
    path.write_text("import torch\nclass Net(torch.nn.Module): pass\ndef net(x): return x\n")
    assert python_names(f"{path}:N") == [f"{path}:Net"]
    assert python_names(f"{path}:") == [f"{path}:Net", f"{path}:net"]
    assert python_names(f"{path.with_name('none.py')}:n") == []
    path.write_text("def (")
    assert python_names(f"{path}:") == []
