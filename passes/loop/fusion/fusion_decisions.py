# SPDX-License-Identifier: Apache-2.0
"""
Decisions about fusion as the module overrides them (`loop.fusion`), those of `cut-recompute`
included. `fusion_cost.py` has the decision by the model of time. Fusions that are not legal are
refused before, and cannot be asked for.
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
    """True if to fuse `kernel` with the others; either way the trace says why."""
    made = settled(rule, kernel, [other.sym_name.data for other in others], decision)
    report = decided if made.pays else skipped
    report(rule, kernel, made.reason)
    return made.pays


def settled(
    rule: Rule, kernel: loop.KernelOp, others: Iterable[str], decision: Decision
) -> Decision:
    """
    Return the decision about a kernel and what is called so, unless the module says otherwise.
    """
    name = f"{rule.pass_name}:{kernel.sym_name.data}>{'+'.join(others)}"
    module = kernel.parent_op()
    given = fusion_of(module) if isinstance(module, ModuleOp) else None
    wanted = None if given is None else given.wanted(name)
    if module is not None and given is not None and wanted is not None:
        module.attributes[ATTRIBUTE] = given.with_met(name)
        decision = decision._replace(pays=wanted, reason=f"as was asked for, {decision.reason}")
    weighed(name, decision.pays, decision.ratio)
    return decision


def fusion_of(module: ModuleOp) -> loop.FusionAttr | None:
    """What the module says of fusion; None for nothing."""
    found = module.attributes.get(ATTRIBUTE)
    if found is None or isinstance(found, loop.FusionAttr):
        return found
    raise refused(module, f"'{ATTRIBUTE}' of a module is #{ATTRIBUTE}<...>, not {found}")
