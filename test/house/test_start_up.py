# SPDX-License-Identifier: Apache-2.0
"""What starting up costs: neither torch nor numpy, and no dialect that is not used."""

import subprocess
import sys
from pathlib import Path

import pytest

# The first three cost seconds; the others are of no use before there is work, or a database.
HEAVY = [
    *("torch", "numpy", "transformers", "hypothesis", "sqlite3"),
    *("tilewright.frontend", "tilewright.interpreters.check"),
]

PROBE = """
import sys, io
{code}
print([name for name in {heavy} if name in sys.modules], file=sys.__stdout__)
"""


def loaded_after(code: str, stdin: str = "") -> str:
    """The heavy modules that a fresh interpreter has loaded after running `code`."""
    probe = PROBE.format(code=code, heavy=HEAVY)
    command = [sys.executable, "-c", probe]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


OPT_TOOL = "from tilewright.tools.opt_tool import main"
TILEWRIGHT = "from tilewright.tools.cli import main"


@pytest.mark.parametrize(
    "code",
    [
        f"{OPT_TOOL}\nassert main(['-']) == 0",
        f"{OPT_TOOL}\nassert main(['-', '-p', 'cse']) == 0",
        f"{OPT_TOOL}\nassert main(['-', '-p', 'no-such-pass']) == 2",
        f"{OPT_TOOL}\ntry: main(['--help'])\nexcept SystemExit: pass",
        f"{OPT_TOOL}\ntry: main(['--version'])\nexcept SystemExit: pass",
        "import tilewright.universe",
    ],
)
def test_opt_tool_starts_light(code: str):
    assert loaded_after(code, "builtin.module {}") == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import tilewright",
        f"{TILEWRIGHT}\nassert main(['--help']) == 0",
        f"{TILEWRIGHT}\nassert main(['--version']) == 0",
        f"{TILEWRIGHT}\nassert main(['run', '--help']) == 0",
        f"{TILEWRIGHT}\nassert main(['run']) == 2",
        f"{TILEWRIGHT}\nassert main(['compile', '-c', 'x', '--ir', 'ptx']) == 2",
    ],
)
def test_tilewright_starts_light(code: str):
    assert loaded_after(code) == "[]"


COPY = """\
loop.kernel @copy(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    loop.store %0, %out[%i] : memref<4xf32>
  }
}
"""


def test_a_file_is_compiled_without_torch_and_without_a_database():
    code = f"{TILEWRIGHT}\nassert main(['compile', '-']) == 0"
    loaded = loaded_after(code, COPY)
    assert "torch" not in loaded
    assert "sqlite3" not in loaded


def test_a_database_that_is_there_is_read(tmp_path: Path):
    path = tmp_path / "tuning.sqlite"
    path.touch()
    code = f"{TILEWRIGHT}\nassert main(['compile', '-', '--db', '{path}']) == 0"
    assert "sqlite3" in loaded_after(code, COPY)


@pytest.mark.parametrize("arguments", [[], ["relu"], ["--unsupported"], ["--markdown"]])
def test_operators_are_listed_without_torch(arguments: list[str]):
    loaded = loaded_after(f"{TILEWRIGHT}\nassert main({['ops', *arguments]}) == 0")
    assert loaded in ("[]", "['tilewright.frontend']")


def test_the_probe_sees_what_is_loaded():
    assert loaded_after("import numpy") == "['numpy']"
