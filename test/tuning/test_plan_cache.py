# SPDX-License-Identifier: Apache-2.0
"""Cache of compiled programs on disk: compiled once, and never confused with others."""

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen import nvrtc
from tilewright.codegen.gpu import Gpu
from tilewright.codegen.launch_plan import Plan
from tilewright.passes.driver.lowering import context
from tilewright.passes.reporting.trace import Listener, listening
from tilewright.tuning import plan_cache
from tilewright.tuning.database import Database
from tilewright.tuning.plan_cache import compiled_plan

PROGRAM = """\
func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = prim.elementwise exp(%x) : tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}
"""

Compile = Callable[[ModuleOp, str, object], Plan]


def module(text: str = PROGRAM) -> ModuleOp:
    """Return a program."""
    return Parser(context(), text).parse_module()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets that a program was compiled for."""
    targets: list[str] = []
    compile: Compile = vars(plan_cache)["_compiled"]

    def counted(module: ModuleOp, target: str, db: object) -> Plan:
        targets.append(target)
        return compile(module, target, db)

    monkeypatch.setattr(plan_cache, "_compiled", counted)
    return targets


def test_a_program_is_compiled_once(folder: Path, compiled: list[str]):
    first = compiled_plan(module(), "sm_90a", False)
    again = compiled_plan(module(), "sm_90a", False)
    assert again == first
    assert (again.permuted, again.notes) == (first.permuted, first.notes)
    assert again.slab.slots == first.slab.slots
    assert compiled == ["sm_90a"]


def test_changed_programs_locations_targets_and_gpus_are_compiled(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
):
    other = module(PROGRAM.replace("5xf32", "7xf32"))
    elsewhere = module(PROGRAM.replace("5xf32>\n  func", '5xf32> loc("a.py":1:2)\n  func'))
    for program in (module(), other, elsewhere):
        compiled_plan(program, "sm_90a", False)
    compiled_plan(module(), "sm_80", False)
    monkeypatch.setattr(plan_cache, "present_gpu", lambda: Gpu("NVIDIA H200", (9, 0)))
    compiled_plan(module(), "sm_80", False)
    assert len(compiled) == len([*folder.iterdir()]) == 5


def test_the_precision_is_part_of_the_key(folder: Path, compiled: list[str]):
    text = """
      builtin.module {
        func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
          %r = torch.mm %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          func.return %r : tensor<4x4xf32>
        }
      }
    """
    for word in ("highest", "high", "medium", "high"):
        named = f'module attributes {{torch.matmul_precision = "{word}"}} {{'
        compiled_plan(module(text.replace("module {", named)), "sm_90a", False)
    assert len(compiled) == len([*folder.iterdir()]) == 3


def test_another_compiler_compiles_anew(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
):
    compiled_plan(module(), "sm_90a", False)
    monkeypatch.setattr(plan_cache, "_compiler", lambda: ("another",))
    compiled_plan(module(), "sm_90a", False)
    assert len(compiled) == 2


def test_a_source_that_was_changed_is_another_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(plan_cache, "_PACKAGES", ("tuning",))
    monkeypatch.setattr("tilewright.tuning.__path__", [str(tmp_path)])
    source = tmp_path / "a.py"
    seen: set[tuple[str, ...]] = set()
    for text in ("one", "other", "third."):
        source.write_text(text)
        vars(plan_cache)["_compiler"].cache_clear()
        seen.add(vars(plan_cache)["_compiler"]())
    vars(plan_cache)["_compiler"].cache_clear()
    assert len(seen) == 3


def test_a_changed_database_is_another_key(folder: Path, compiled: list[str], tmp_path: Path):
    path = tmp_path / "tuning.sqlite"
    with Database.writing(path):
        pass
    for expected in (1, 2):
        for _ in range(3):
            compiled_plan(module(), "sm_90a", path)
        assert len(compiled) == expected
        path.touch()


def test_a_damaged_database_is_reported_each_time(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "tilewright").mkdir()
    (tmp_path / "tilewright" / "tuning.sqlite").write_text("nonsense" * 1000)
    for _ in range(2):
        with pytest.warns(UserWarning, match="it is ignored"):
            compiled_plan(module(), "sm_90a", True)


def test_a_damaged_file_is_made_anew(folder: Path, compiled: list[str]):
    first = compiled_plan(module(), "sm_90a", False)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        assert compiled_plan(module(), "sm_90a", False) == first
    assert len(compiled) == 4


def test_a_listener_is_notified_of_all_rewrites(folder: Path, compiled: list[str]):
    compiled_plan(module(), "sm_90a", False)

    class Rewrites(Listener[str]):
        count = 0

        def look(self, scope: object) -> str:
            return str(scope)

        def rewrote(self, rule: object, site: str, before: str, after: str) -> None:
            self.count += 1

    rewrites = Rewrites()
    with listening(rewrites):
        compiled_plan(module(), "sm_90a", False)
    assert rewrites.count
    assert len(compiled) == 2


def test_without_a_cache_all_is_compiled(compiled: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE", "off")
    for _ in range(2):
        compiled_plan(module(), "sm_90a", False)
    assert len(compiled) == 2


def test_nvrtc_is_part_of_the_compiler(monkeypatch: pytest.MonkeyPatch):
    compiler = vars(plan_cache)["_compiler"]
    compiler.cache_clear()
    before = compiler()
    monkeypatch.setattr(nvrtc, "available", lambda: False)
    compiler.cache_clear()
    assert compiler() != before
    compiler.cache_clear()
