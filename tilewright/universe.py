# SPDX-License-Identifier: Apache-2.0
"""
The xDSL plug-in: it adds our dialects, our passes and the `cuda` target to plain `xdsl-opt`.

Every xDSL tool in the environment imports this file at start-up, so its imports must be light.
"""

from importlib import import_module

from xdsl.universe import Universe
from xdsl.utils.target import Target

from tilewright.dialects import get_all_dialects
from tilewright.passes import get_all_passes


def _cuda_target() -> type[Target]:
    return getattr(import_module("tilewright.codegen.printer"), "CudaTarget")


UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes=get_all_passes(),
    all_targets={"cuda": _cuda_target},
)
