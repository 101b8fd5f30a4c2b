# SPDX-License-Identifier: Apache-2.0
"""
Programs for NVIDIA's tools, each launched once: `gpu_check.py --launch NAME...`.

Two kernels have a planted bug, which proves that the tools detect bugs.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpu_checks.device import Device
from gpu_checks.micro import MICROS, launch_loads
from gpu_checks.places import SCRIPT

SAMPLE = (
    "pointwise",
    "softmax.100",
    "rms_norm",
    "sum.columns",
    "matmul.even",
    "matmul.boxes",
    "matmul.deep",
    "matmul.odd",
    "sdpa",
)
"""Names of small programs in `programs`, at least one of each family."""

LOADED = [name for name in MICROS if name.startswith("lds.")]
"""
Names of the measurements `lds.SIZE.PATTERN` of `micro`: one for each size and pattern of
shared-memory loads.
"""

LAUNCHED = "launched "
"""Text that is printed before a program's name when the program has run."""

_HEAD = 'extern "C" __global__ void planted(const float *x, float *y) {'
PLANTED: Mapping[str, str] = {
    "planted.bounds": f"{_HEAD} y[threadIdx.x] = x[threadIdx.x + 1000000000]; }}",
    "planted.race": f"{_HEAD} __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; "
    "y[threadIdx.x] = s[63 - threadIdx.x]; }",
}


def launcher(device: Device, names: Sequence[str]) -> list[str]:
    """Return the command that launches these programs."""
    return [sys.executable, str(SCRIPT), "--device", device.name, "--launch", *names]


class Prepared(NamedTuple):
    """Captured program, with its launch plan and inputs."""

    captured: Any
    plan: Any
    inputs: list[Any]


def prepared(name: str, target: str) -> Prepared:
    """Return a program of `programs`, captured and compiled, with its inputs."""
    from gpu_checks.programs import parsed
    from tilewright import api
    from tilewright.arrays import array_of
    from tilewright.codegen.host_function import plan_of

    expression = parsed(name)
    captured = api.capture(expression.module, *expression.args)
    plan = plan_of(api.lower(captured, "cuda", target))
    return Prepared(captured, plan, [array_of(input.tensor) for input in captured.inputs])


def launch(device: Device, names: Sequence[str]) -> int:
    """Launch the programs in order; return the exit code. The first error ends the process."""
    backend = device.backend()
    for name in names:
        if name in PLANTED:
            _launch_planted(backend.driver, device, PLANTED[name])
        elif name in LOADED:
            launch_loads(device, name)
        else:
            _, plan, inputs = prepared(name, device.target)
            backend.run(plan, inputs)
        print(f"{LAUNCHED}{name}", flush=True)
    return 0


def _launch_planted(driver: Any, device: Device, source: str) -> None:
    import numpy as np
    import torch

    from tilewright.codegen.launch_plan import ArrayType, Launch
    from tilewright.codegen.runtime.driver import Arguments, Memory

    x, y = (torch.ones(64, device=device.place) for _ in range(2))
    row = ArrayType((64,), np.dtype(np.float32))
    memory = [Memory(tensor.data_ptr(), row) for tensor in (x, y)]
    function = driver.load(source, device.target).function("planted", 0)
    launch = Launch("planted", 1, 64, 0, (0,), (1,))
    driver.enter()
    function.bind(launch, Arguments((), (memory[0],), (memory[1],)))(0)
    driver.synchronize(0)
    driver.leave()
