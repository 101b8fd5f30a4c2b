# SPDX-License-Identifier: Apache-2.0
"""
Runs CUDA kernels without a GPU: a SIMT interpreter for PTX in NumPy that checks what it runs.

Every register is an array over all threads of many blocks, so one NumPy call executes one
instruction for thousands of threads. Races, bounds, alignment, uninitialised reads, divergent
barriers, wrong member masks and deadlocks are reported with the line of the CUDA text; bank
conflicts and memory sectors are counted per line.

Read in this order: `operands`, `ptx` (text to instructions), `registers`, `lanes`, `memory`,
`instructions/`, `control` and `machine` (who runs next), `collectives`, `barriers`,
`cluster_barrier`, `mbarriers` and `spins` (waiting), `order`, `atomic_order`, `shared_races` and
`global_races` (happens-before), `simulator` (a launch).
"""

from tilewright.codegen.simulator.counters import AccessCount, Counters
from tilewright.codegen.simulator.findings import (
    Finding,
    Kind,
    SimulationTooLarge,
    SimulatorError,
)
from tilewright.codegen.simulator.simulator import Report, simulate
from tilewright.codegen.simulator.tensor_map import TensorMap

__all__ = [
    "AccessCount",
    "Counters",
    "Finding",
    "Kind",
    "Report",
    "SimulationTooLarge",
    "SimulatorError",
    "TensorMap",
    "simulate",
]
