# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for passes of named pipelines, which are loaded for the first module with a need."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from tilewright.passes.driver.needs import Need
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.reporting.trace import is_listening
from tilewright.passes.targeted_pass import TargetedPass, for_target


@dataclass(frozen=True, kw_only=True)
class DeferredPass(TargetedPass):
    """
    Pass that loads and runs another one if a module has what that one needs. With a listener, the
    other pass always runs, because it may report why it skips a kernel.
    """

    deferred: ArgSpec
    """The other pass, with its options."""
    load: Callable[[], type[ModulePass]]
    """Function that imports and returns the class of the other pass."""
    need: Need
    """Predicate on modules; the other pass changes nothing where it is false."""

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]: of the instance
        """Name of the other pass."""
        return self.deferred.name

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the other pass if the module has what it needs."""
        if is_listening() or self.need(op):
            self.loaded.apply(ctx, op)

    @cached_property
    def loaded(self) -> ModulePass:
        """The other pass."""
        return for_target(configure(self.load(), self.deferred, "pass"), self.target)

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """Return the name and options of the other pass."""
        return self.loaded.spec(include_default=include_default)
