# SPDX-License-Identifier: Apache-2.0
"""
Prescribed decisions about fusion (`loop.fusion` of the module), which override the cost model of
`fusion_cost.py`. Decisions of `cut-recompute` are included. A fusion that is not legal is rejected
earlier, and cannot be prescribed.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.passes.loop.fusion.fusion_cost import Decision
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, decided, skipped, weighed


def accepted(
    rule: Rule, kernel: loop.KernelOp, others: Iterable[loop.KernelOp], decision: Decision
) -> bool:
    """
    True if `kernel` is to be fused with the others; the trace records the reason in both cases.
    """
    made = settled(rule, kernel, [other.sym_name.data for other in others], decision)
    report = decided if made.pays else skipped
    report(rule, kernel, made.reason)
    return made.pays


def settled(
    rule: Rule, kernel: loop.KernelOp, others: Iterable[str], decision: Decision
) -> Decision:
    """
    Return the decision that the module prescribes for a kernel and the kernels named `others`;
    without one, return `decision`.
    """
    name = f"{rule.pass_name}:{kernel.sym_name.data}>{'+'.join(others)}"
    module = kernel.parent_op()
    given = fusion_of(module) if isinstance(module, ModuleOp) else None
    pays = None if given is None else given.prescribed(name)
    if module is not None and given is not None and pays is not None:
        module.attributes[ATTRIBUTE] = given.with_reached(name)
        decision = decision._replace(pays=pays, reason=f"as requested, {decision.reason}")
    weighed(name, decision.pays, decision.ratio)
    return decision


def fusion_of(module: ModuleOp) -> loop.FusionAttr | None:
    """Return the decisions about fusion that the module prescribes, or None."""
    found = module.attributes.get(ATTRIBUTE)
    if found is None or isinstance(found, loop.FusionAttr):
        return found
    raise refused(module, f"'{ATTRIBUTE}' of a module is #{ATTRIBUTE}<...>, not {found}")
