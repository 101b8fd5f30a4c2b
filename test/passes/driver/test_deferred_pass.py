# SPDX-License-Identifier: Apache-2.0
"""Passes of named pipelines that are loaded for the first module that needs them."""

from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from tilewright.passes.driver.deferred_pass import DeferredPass
from tilewright.passes.reporting.trace import Listener, listening
from tilewright.passes.targeted_pass import TargetedPass, for_target


@dataclass(frozen=True)
class MarkPass(TargetedPass):
    """Pass that marks a module with its target and its option."""

    name = "mark"

    times: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the module."""
        op.attributes[f"{self.target}x{self.times}"] = UnitAttr()


def deferred(is_needed: bool, loads: list[str]) -> DeferredPass:
    def load() -> type[ModulePass]:
        loads.append(MarkPass.name)
        return MarkPass

    spec = ArgSpec("mark", {"times": (3,)})
    return DeferredPass(deferred=spec, load=load, need=lambda _: is_needed)


def test_a_needed_pass_runs_with_its_options_and_target() -> None:
    module = ModuleOp([])
    for_target(deferred(True, []), "sm_80").apply(Context(), module)
    assert [*module.attributes] == ["sm_80x3"]


def test_a_pass_that_is_not_needed_is_not_loaded() -> None:
    loads: list[str] = []
    module = ModuleOp([])
    deferred(False, loads).apply(Context(), module)
    assert (loads, module.attributes) == ([], {})


def test_a_listener_hears_passes_that_are_not_needed() -> None:
    class Silent(Listener[None]):
        def look(self, scope: object) -> None:
            """Keep nothing."""

    loads: list[str] = []
    with listening(Silent()):
        deferred(False, loads).apply(Context(), ModuleOp([]))
    assert loads == ["mark"]


@pytest.mark.parametrize("is_needed", [True, False])
def test_it_has_the_name_and_the_text_of_the_pass(is_needed: bool) -> None:
    step = deferred(is_needed, [])
    assert (step.name, str(step)) == ("mark", str(MarkPass(times=3)))
