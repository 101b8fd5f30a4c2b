# SPDX-License-Identifier: Apache-2.0
"""
Forgets what was decided about fusion, once there is nothing left to fuse.

    builtin.module attributes {loop.fusion = #loop.fusion<apart [...] met [...]>} {

becomes

    builtin.module {

A remark says which decisions never came up: there are no such kernels, or it would not be legal.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.passes.loop.fusion.fusion_decisions import fusion_of
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 19, "settle_fusion")


class SettleFusionPass(ModulePass):
    """Forget what was decided about fusion."""

    name = "settle-fusion"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Of the whole module."""
        if (fusion := fusion_of(op)) is None:
            return
        for decision in fusion.unmet:
            skipped(RULE, op, f"'{decision}' did not come up, or it is not legal")
        with rewriting(RULE, op):
            del op.attributes[ATTRIBUTE]
