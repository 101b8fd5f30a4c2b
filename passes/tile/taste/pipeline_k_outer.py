# SPDX-License-Identifier: Apache-2.0
"""Taste in `pipeline-k-outer`: as far ahead as there are slots."""

from collections.abc import Sequence

from tilewright.dialects import tile
from tilewright.passes.tile.pipeline_k_outer import PipelineKOuterPass


def prefer(step: PipelineKOuterPass, launch: tile.LaunchOp) -> Sequence[PipelineKOuterPass]:
    """Return the choices, the furthest first."""
    return [*step.possible(launch)][::-1]
