# SPDX-License-Identifier: Apache-2.0
"""Execution of one launch of a plan in the PTX simulator, with arrays as the kernel's arguments."""

from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.codegen.launch_plan import Launch, MapOf
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator import MatrixSums, Report, TensorMap, simulate


def simulate_launch(
    ptx: str,
    launch: Launch,
    mapped: Sequence[Array],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    *,
    budget: int | None = None,
    checks: bool = True,
    blocks: int | None = None,
    notes: Mapping[int, str] | None = None,
    matrix_sums: MatrixSums = MatrixSums.ROUNDED_ONCE,
) -> Report:
    """
    Run `launch` on arrays in the PTX simulator, and return the report.

    `mapped` are the arrays under the launch's tensor maps. A write to an input is an error, unless
    an output shares the input's memory.
    """
    maps = [_tensor_map(*pair) for pair in zip(launch.tensor_maps, mapped, strict=True)]
    return simulate(
        ptx,
        launch.kernel,
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.dynamic_shared_bytes,
        arguments=[*maps, *inputs, *outputs],
        read_only=[
            n for n, array in enumerate(inputs, len(maps)) if not _overlaps_any(array, outputs)
        ],
        budget=budget,
        checks=checks,
        blocks=blocks,
        notes=notes,
        matrix_sums=matrix_sums,
    )


def _tensor_map(map: MapOf, array: Array) -> TensorMap:
    """Return the simulator's tensor map of an array."""
    strides = tuple(stride * array.itemsize for stride in map.strides)
    return TensorMap(
        array.reshape(-1) if strides else array.reshape(map.shape),
        map.box,
        swizzle=map.swizzle,
        shape=map.shape,
        strides=strides,
    )


def _overlaps_any(array: Array, others: Sequence[Array]) -> bool:
    """True if an array shares memory with one of `others`."""
    return any(np.may_share_memory(array, other) for other in others)
