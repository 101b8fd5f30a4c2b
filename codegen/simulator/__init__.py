# SPDX-License-Identifier: Apache-2.0
"""
SIMT interpreter for PTX in NumPy: runs CUDA kernels without a GPU and checks them.

Every register is an array over all threads of many blocks. One NumPy call executes one instruction
for thousands of threads.

Findings name the line of the CUDA text. They cover races, bounds, alignment, uninitialised reads,
divergent barriers, wrong member masks and deadlocks. Bank conflicts and memory sectors are counted
per line.

Read the modules in this order:

- `operands`, `ptx`: text to instructions
- `registers`, `lanes`, `memory`, `instructions/`: state, and what instructions do to it
- `control`, `machine`: the choice of the lanes that run next
- `fragments`: layouts of matrix instructions, whose arithmetic is in `tilewright/matrix_sums.py`
- `meeting`, `collectives`, `barriers`, `cluster_barrier`, `mbarriers`, `spins`: waiting
- `order`, `atomic_order`, `shared_races`, `global_races`: happens-before
- `simulator`: a launch
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
from tilewright.matrix_sums import MatrixSums

__all__ = [
    "AccessCount",
    "Counters",
    "Finding",
    "Kind",
    "MatrixSums",
    "Report",
    "SimulationTooLarge",
    "SimulatorError",
    "TensorMap",
    "simulate",
]
