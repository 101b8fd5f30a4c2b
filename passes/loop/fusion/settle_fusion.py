# SPDX-License-Identifier: Apache-2.0
"""
Removes the prescribed decisions about fusion after the last fusion pass.

    builtin.module attributes {loop.fusion = #loop.fusion<apart [...] met [...]>} {

becomes

    builtin.module {

A remark names each decision that was never met: its kernels do not exist, or the fusion is not
legal.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.passes.loop.fusion.fusion_decisions import fusion_of
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 19, "settle_fusion")


class SettleFusionPass(ModulePass):
    """Remove the prescribed decisions about fusion."""

    name = "settle-fusion"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Remove the decisions from the module, and report each one that was never reached."""
        if (fusion := fusion_of(op)) is None:
            return
        for decision in fusion.unreached:
            skipped(RULE, op, f"'{decision}' was never reached, or it is not legal")
        with rewriting(RULE, op):
            del op.attributes[ATTRIBUTE]
