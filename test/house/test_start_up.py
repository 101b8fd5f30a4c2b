# SPDX-License-Identifier: Apache-2.0
"""Start-up imports neither torch nor numpy, and no dialect that is not used."""

import subprocess
import sys
from pathlib import Path

import pytest

# The first three cost seconds; the others are needed only with work to do, or with a database.
HEAVY = [
    *("torch", "numpy", "transformers", "hypothesis", "sqlite3"),
    *("tilewright.frontend", "tilewright.interpreters.check"),
]

PROBE = """
import io, sys
loaded = []
for code in {codes!r}:
    sys.stdin = io.TextIOWrapper(io.BytesIO({stdin!r}))
    exec(code, dict())
    loaded.append([name for name in {heavy} if name in sys.modules])
print(*loaded, sep="\\n", file=sys.__stdout__)
"""


def loaded_after(*codes: str, stdin: str = "") -> list[str]:
    """Return the heavy modules that a new interpreter has loaded after it ran each of `codes`."""
    probe = PROBE.format(codes=codes, stdin=stdin.encode(), heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-len(codes) :]


OPT_TOOL = "from tilewright.tools.opt_tool import main"
TILEWRIGHT = "from tilewright.tools.cli import main"


OPT_TOOL_RUNS = [
    "import tilewright.universe",
    f"{OPT_TOOL}\nassert main(['-']) == 0",
    f"{OPT_TOOL}\nassert main(['-', '-p', 'cse']) == 0",
    f"{OPT_TOOL}\nassert main(['-', '-p', 'no-such-pass']) == 2",
    f"{OPT_TOOL}\ntry: main(['--help'])\nexcept SystemExit: pass",
    f"{OPT_TOOL}\ntry: main(['--version'])\nexcept SystemExit: pass",
]
TILEWRIGHT_RUNS = [
    "import tilewright",
    f"{TILEWRIGHT}\nassert main(['--help']) == 0",
    f"{TILEWRIGHT}\nassert main(['--version']) == 0",
    f"{TILEWRIGHT}\nassert main(['run', '--help']) == 0",
    f"{TILEWRIGHT}\nassert main(['run']) == 2",
    f"{TILEWRIGHT}\nassert main(['compile', '-c', 'x', '--ir', 'ptx']) == 2",
]


# A loaded module stays loaded: runs that load nothing may share an interpreter.
@pytest.mark.parametrize("codes", [OPT_TOOL_RUNS, TILEWRIGHT_RUNS], ids=["opt-tool", "tilewright"])
def test_tools_start_light(codes: list[str]):
    loaded = loaded_after(*codes, stdin="builtin.module {}")
    assert dict(zip(codes, loaded, strict=True)) == dict.fromkeys(codes, "[]")


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
    (loaded,) = loaded_after(code, stdin=COPY)
    assert "torch" not in loaded
    assert "sqlite3" not in loaded


def test_a_database_that_is_there_is_read(tmp_path: Path):
    path = tmp_path / "tuning.sqlite"
    path.touch()
    code = f"{TILEWRIGHT}\nassert main(['compile', '-', '--db', '{path}']) == 0"
    assert "sqlite3" in loaded_after(code, stdin=COPY)[0]


def test_operators_are_listed_without_torch():
    listings = [["ops"], ["ops", "relu"], ["ops", "--unsupported"], ["ops", "--markdown"]]
    loaded = loaded_after(*(f"{TILEWRIGHT}\nassert main({words}) == 0" for words in listings))
    assert {*loaded} <= {"[]", "['tilewright.frontend']"}


def test_the_probe_sees_what_is_loaded():
    assert loaded_after("import numpy") == ["['numpy']"]
