# SPDX-License-Identifier: Apache-2.0
"""Contest on the GPU of this machine."""

from collections.abc import Sequence

from tilewright.codegen.gpu import target_for
from tilewright.codegen.runtime.gpu_backend import gpu_driver, reason_against_gpu
from tilewright.codegen.timing.cuda_device import CudaDevice
from tilewright.dialects.target import target
from tilewright.errors import TilewrightError
from tilewright.tools.bench.contest import Contest
from tilewright.tools.bench.contestants import BACKENDS, OURS, Ours, use_precision
from tilewright.tuning.knowledge import Db

MACHINE_CODE = "reports on the kernels' machine code without one"
"""Remedy for commands that have an alternative without a GPU."""


def need_gpu(instead: str) -> None:
    """Raise `TilewrightError`, with `instead` as the remedy, unless there is a GPU for timing."""
    if (reason := reason_against_gpu()) is not None:
        raise TilewrightError(f"timing needs a GPU, and there is none: {reason}", remedy=instead)


def gpu_contest(
    backends: Sequence[str],
    target_name: str | None = None,
    db: Db = True,
    precision: str | None = None,
) -> Contest:
    """
    Return a contest of Tilewright, with the schedules in `db`, against the named backends, which
    get the precision of float32 products. Raises `TilewrightError` if there is no GPU.
    """
    name = target_for(target_name)
    driver = gpu_driver()
    use_precision(precision or "highest")
    peers = {backend: BACKENDS[backend] for backend in backends}
    return Contest(CudaDevice(target(name)), {OURS: Ours(driver, name, db), **peers})
