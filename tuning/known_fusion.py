# SPDX-License-Identifier: Apache-2.0
"""
Stores the best known way to fuse a program as decisions in its module.

    builtin.module { func.func @main ... }          at Tensor IR

becomes, where a database or a golden has found it faster,

    builtin.module attributes {loop.fusion = #loop.fusion<apart ["fuse-rows:sum>matmul"]>} { ... }

A way that no longer applies, because the passes have changed, is skipped with a remark. Programs
that already prescribe their fusion keep it.
"""

from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.loop.fusion.fusion_decisions import fusion_of
from tilewright.passes.reporting.trace import Rule, decided
from tilewright.tuning.applicability import first_that_applies, reason_against_fusion
from tilewright.tuning.fusion_schedule import DEFAULT, fused_by
from tilewright.tuning.knowledge import Db, Knowledge, Known
from tilewright.tuning.program_key import digest

RULE = Rule("f", 21, "known_fusion")


class Fusing(NamedTuple):
    """A program, and the source of its way to be fused."""

    module: ModuleOp
    known: Known | None
    """Source of the decisions; None if the passes decide or the program prescribed them itself."""


def with_known_fusion(
    module: ModuleOp, target: str, db: Db = True, manager: PassManager | None = None
) -> Fusing:
    """
    Return `module` at Tensor IR with its best known fusion. Returns it unchanged if there is no
    source, or if it is below Tensor IR already. Raises `DatabaseError` as `Knowledge` does.
    """
    if level_of(module) not in (Level.TORCH, Level.TENSOR) or fusion_of(module) is not None:
        return Fusing(module, None)
    if (knowledge := Knowledge(target, db)).is_empty:
        return Fusing(module, None)
    program = lower(module, Level.TENSOR, manager, target)
    key = digest(program)
    candidates = (each.or_default(lambda: DEFAULT) for each in knowledge.best([key])[key])
    ways = ((known.schedule, known) for known in candidates)
    reason_against = partial(reason_against_fusion, program, target=target)
    found = first_that_applies(RULE, program, ways, reason_against)
    if found is None:
        return Fusing(program, None)
    schedule, known = found
    if schedule == DEFAULT:
        return Fusing(program, known)
    decided(RULE, program, f"{schedule}: {known}")
    return Fusing(fused_by(program, schedule), known)
