# SPDX-License-Identifier: Apache-2.0
"""The doors to the outside: xDSL's own tools know us, and we know the passes of others."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints

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


def test_plain_xdsl_opt_knows_us():
    driver = xDSLOptMain(args=[])
    assert UNIVERSE.all_dialects.keys() <= set(driver.ctx.registered_dialect_names)
    assert UNIVERSE.all_passes.keys() <= driver.available_passes.keys()
    assert "cuda" in driver.available_targets


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
    """A pass that some other package announces."""

    name = "my-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Never run here."""


def announced(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> type[ModulePass]:
    """The pass called `name` when a package has an entry point `name = value`."""
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
        ("my-pass", "builtins:len", "but is no ModulePass"),
        ("taken", f"{__name__}:MyPass", "the pass name 'taken' is taken twice"),
    ],
)
def test_a_bad_announcement_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, complaint: str
):
    monkeypatch.setitem(vars(tilewright.passes)["_PASSES"], "taken", "some.module:TakenPass")
    with pytest.raises(UsageError, match=complaint):
        announced(monkeypatch, name, value)
