# SPDX-License-Identifier: Apache-2.0
"""
Says of a program how decisions about its fusion are to come out, whatever the model says.

    builtin.module {

becomes, by `decide-fusion{apart="fuse-epilogue:linear>relu"}`,

    builtin.module attributes {loop.fusion = #loop.fusion<apart ["fuse-epilogue:linear>relu"]>} {

The passes that fuse do so when they get there, if it is legal. What was said before is forgotten.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import loop
from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("f", 18, "decide_fusion")


@dataclass(frozen=True)
class DecideFusionPass(ModulePass):
    """Say which decisions about fusion are to come out how."""

    name = "decide-fusion"

    fused: tuple[str, ...] = ()
    """Decisions, as `inline-elementwise:add>linear+mul`, that are to make one kernel."""
    apart: tuple[str, ...] = ()
    """Decisions that are to leave or make several."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what is no decision."""
        try:
            _ = self.fusion
        except VerifyException as err:
            raise ValueError(str(err)) from err

    @property
    def fusion(self) -> loop.FusionAttr:
        """The same as an attribute."""
        return loop.FusionAttr.get(fused=self.fused, apart=self.apart)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """All that is said is about the module."""
        with rewriting(RULE, op):
            op.attributes.pop(ATTRIBUTE, None)
            if self.fused or self.apart:
                op.attributes[ATTRIBUTE] = self.fusion
