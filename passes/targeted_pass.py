# SPDX-License-Identifier: Apache-2.0
"""Base class of passes whose decisions depend on the GPU, and the choice of the GPU."""

from dataclasses import dataclass, replace

from xdsl.passes import ModulePass

from tilewright.dialects.target import DEFAULT_TARGET, Target
from tilewright.dialects.target import target as target_named


@dataclass(frozen=True)
class TargetedPass(ModulePass):
    """
    Pass whose decisions depend on the GPU; drivers give all passes of a pipeline the same GPU.
    """

    target: str = DEFAULT_TARGET
    """GPU to decide for, as `--target` spells it: `sm_90a`, `sm_90a{sms=114}`."""

    @property
    def gpu(self) -> Target:
        """Limits and speed of the GPU."""
        return target_named(self.target)


def for_target(step: ModulePass, target: str) -> ModulePass:
    """
    Return a copy of the pass `step` for `target` if its decisions depend on a target, else `step`
    itself.
    """
    return replace(step, target=target) if isinstance(step, TargetedPass) else step
