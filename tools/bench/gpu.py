# SPDX-License-Identifier: Apache-2.0
"""A contest on the GPU that is present."""

from collections.abc import Sequence

from tilewright.codegen.gpu import target_for
from tilewright.codegen.runtime.gpu_backend import gpu_driver, reason_against_gpu
from tilewright.codegen.timing.cuda_device import CudaDevice
from tilewright.dialects.target import target
from tilewright.errors import TilewrightError
from tilewright.tools.bench.contest import Contest
from tilewright.tools.bench.contestants import BACKENDS, OURS, Ours, use_float32
from tilewright.tuning.knowledge import Db

MACHINE_CODE = "says what the machine code of kernels tells without one"
"""What some commands do instead."""


def need_gpu(instead: str) -> None:
    """Raise `TilewrightError`, with what to do instead, unless there is a GPU to take times on."""
    if (reason := reason_against_gpu()) is not None:
        raise TilewrightError(
            f"taking times needs a GPU, and there is none: {reason}", remedy=instead
        )


def gpu_contest(backends: Sequence[str], target_name: str | None = None, db: Db = True) -> Contest:
    """
    Ours, with the schedules that `db` knows, against others, by name. Raises `TilewrightError`
    where there is no GPU.
    """
    name = target_for(target_name)
    driver = gpu_driver()
    use_float32()
    peers = {backend: BACKENDS[backend] for backend in backends}
    return Contest(CudaDevice(target(name)), {OURS: Ours(driver, name, db), **peers})
