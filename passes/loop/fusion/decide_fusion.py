# SPDX-License-Identifier: Apache-2.0
"""
Prescribes decisions about the fusion of a program, which override the cost model.

    builtin.module {

becomes, by `decide-fusion{apart="fuse-epilogue:linear>relu"}`,

    builtin.module attributes {loop.fusion = #loop.fusion<apart ["fuse-epilogue:linear>relu"]>} {

Later fusion passes follow the decisions where they are legal. Earlier prescriptions are dropped.
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
    """Prescribe the outcome of decisions about fusion."""

    name = "decide-fusion"

    fused: tuple[str, ...] = ()
    """Decisions to fuse into one kernel, such as `inline-elementwise:add>linear+mul`."""
    apart: tuple[str, ...] = ()
    """Decisions to keep or make several kernels."""

    def __post_init__(self) -> None:
        """Raise `ValueError` if a string is not a decision."""
        try:
            _ = self.fusion
        except VerifyException as err:
            raise ValueError(str(err)) from err

    @property
    def fusion(self) -> loop.FusionAttr:
        """The decisions as an attribute."""
        return loop.FusionAttr.get(fused=self.fused, apart=self.apart)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace the decisions that the module prescribes."""
        with rewriting(RULE, op):
            op.attributes.pop(ATTRIBUTE, None)
            if self.fused or self.apart:
                op.attributes[ATTRIBUTE] = self.fusion
