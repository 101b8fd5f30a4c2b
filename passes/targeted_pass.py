# SPDX-License-Identifier: Apache-2.0
"""Base of all passes that decide for a GPU."""

from dataclasses import dataclass

from xdsl.passes import ModulePass

from tilewright.dialects.target import DEFAULT_TARGET, Target
from tilewright.dialects.target import target as target_named


@dataclass(frozen=True)
class TargetedPass(ModulePass):
    """A pass that decides for a GPU; drivers give all of a pipeline the same one."""

    target: str = DEFAULT_TARGET
    """The GPU, as `--target` spells it: `sm_90a`, `sm_90a{sms=114}`."""

    @property
    def gpu(self) -> Target:
        """The limits and the speed of the GPU."""
        return target_named(self.target)
