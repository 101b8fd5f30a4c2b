# SPDX-License-Identifier: Apache-2.0
"""Heuristics (taste) of `pipeline-k-outer`: fill slots as far ahead as their number allows."""

from collections.abc import Sequence

from tilewright.dialects import tile
from tilewright.passes.tile.pipeline_k_outer import PipelineKOuterPass


def prefer(step: PipelineKOuterPass, launch: tile.LaunchOp) -> Sequence[PipelineKOuterPass]:
    """Return the choices, the longest lookahead first."""
    return [*step.possible(launch)][::-1]
