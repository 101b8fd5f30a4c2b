# SPDX-License-Identifier: Apache-2.0
"""Entry points: xDSL's own tools find Tilewright, and Tilewright finds passes of other packages."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE
from xdsl.xdsl_opt_main import xDSLOptMain

import tilewright.passes
from tilewright.dialects import get_all_dialects
from tilewright.errors import UsageError
from tilewright.passes import get_all_passes
from tilewright.universe import UNIVERSE


def test_plain_xdsl_opt_finds_tilewright():
    driver = xDSLOptMain(args=[])
    assert UNIVERSE.all_dialects.keys() <= set(driver.ctx.registered_dialect_names)
    assert UNIVERSE.all_passes.keys() <= driver.available_passes.keys()
    assert "cuda" in driver.available_targets


TWO_LEVELS = """\
builtin.module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %one = prim.constant 1.0 : f32 -> tensor<4xf32>
    %two = prim.elementwise add(%one, %one) : tensor<4xf32>
    %a = prim.elementwise mul(%x, %one) : tensor<4xf32>
    %b = prim.elementwise mul(%a, %two) : tensor<4xf32>
    %c = prim.index_map %b by affine_map<(d0) -> (d0)> : tensor<4xf32> -> tensor<4xf32>
    %d = prim.index_map %c by affine_map<(d0) -> (3 - d0)> : tensor<4xf32> -> tensor<4xf32>
    func.return %d : tensor<4xf32>
  }
  loop.kernel @copy(%x: memref<4x1xf32>) -> (%out: memref<4xf32>) {
    loop.for %i in 4, %j in 1 {
      %0 = loop.load %x[%i, %j] where [3 - %i] : memref<4x1xf32>
      loop.store %0, %out[%i + %j] : memref<4xf32>
    }
  }
}
"""

CANONICAL = """\
builtin.module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %two = prim.constant 2.000000e+00 : f32 -> tensor<4xf32>
    %b = prim.elementwise mul(%x, %two) : tensor<4xf32>
    %d = prim.index_map %b by affine_map<(d0) -> (((d0 * -1) + 3))> : tensor<4xf32> -> tensor<4xf32>
    func.return %d : tensor<4xf32>
  }
  loop.kernel @copy(%x: memref<4x1xf32>) -> (%out: memref<4xf32>) {
    loop.for %i in 4, %j in 1 {
      %0 = loop.load %x[%i, 0] : memref<4x1xf32>
      loop.store %0, %out[%i] : memref<4xf32>
    }
  }
}
"""


def test_plain_xdsl_opt_canonicalizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "input.mlir"
    file.write_text(TWO_LEVELS)
    xDSLOptMain(args=[str(file), "-p", "canonicalize"]).run()
    assert capsys.readouterr().out.strip() == CANONICAL.strip()


def test_no_name_of_ours_is_xdsls():
    # A name that exists twice breaks every xDSL tool in the environment.
    assert not UNIVERSE.all_dialects.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert not UNIVERSE.all_passes.keys() & XDSL_UNIVERSE.all_passes.keys()
    assert not UNIVERSE.all_targets.keys() & XDSL_UNIVERSE.all_targets.keys()


@pytest.mark.parametrize("name", get_all_dialects())
def test_every_dialect_loads_under_its_name(name: str):
    assert get_all_dialects()[name]().name == name


@pytest.mark.parametrize("name", get_all_passes())
def test_every_pass_loads_under_its_name(name: str):
    assert get_all_passes()[name]().name == name


def test_the_cuda_target_loads_under_its_name():
    assert UNIVERSE.all_targets["cuda"]().name == "cuda"


@dataclass(frozen=True)
class MyPass(ModulePass):
    """Pass that another package announces."""

    name = "my-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Do nothing: the pass is never run here."""


def announced(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> type[ModulePass]:
    """Return the pass called `name` when a package has an entry point `name = value`."""
    entry = EntryPoint(name, value, tilewright.passes.PLUGIN_GROUP)

    def find(group: str) -> EntryPoints:
        return EntryPoints([entry]).select(group=group)

    monkeypatch.setattr(tilewright.passes, "entry_points", find)
    return get_all_passes()[name]()


def test_a_pass_of_another_package(monkeypatch: pytest.MonkeyPatch):
    assert announced(monkeypatch, "my-pass", f"{__name__}:MyPass") is MyPass


def test_an_announced_pass_is_not_imported_before_it_is_used(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        announced(monkeypatch, "my-pass", "no_such_module:MyPass")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("other", f"{__name__}:MyPass", "but calls itself 'my-pass'"),
        ("my-pass", "builtins:len", "but is not a ModulePass"),
        ("taken", f"{__name__}:MyPass", "the pass name 'taken' is taken twice"),
    ],
)
def test_a_bad_announcement_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, complaint: str
):
    monkeypatch.setitem(vars(tilewright.passes)["_PASSES"], "taken", "some.module:TakenPass")
    with pytest.raises(UsageError, match=complaint):
        announced(monkeypatch, name, value)
