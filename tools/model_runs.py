# SPDX-License-Identifier: Apache-2.0
"""How commands run the programs of a model: where, and compiled or interpreted."""

from typing import Any

from tilewright import interpreters
from tilewright.api import CompiledProgram
from tilewright.arrays import as_array
from tilewright.codegen.execution import Backend, TensorBackend
from tilewright.codegen.simulator_backend import check_simulation_size
from tilewright.errors import TilewrightError
from tilewright.frontend.capture import Captured
from tilewright.models.bound_program import Run
from tilewright.models.weights import weight_bytes
from tilewright.passes.cost.ledger import bytes_text
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower


def device_of(backend: Backend) -> str:
    """Where tensors are to be for a backend, as PyTorch says it."""
    return backend.device if isinstance(backend, TensorBackend) else "cpu"


def check_room(model: Any, device: str) -> None:
    """Raise `TilewrightError` where a GPU has no room for a model's weights."""
    if not device.startswith("cuda"):
        return
    import torch

    needed, (free, _) = weight_bytes(model), torch.cuda.mem_get_info(device)
    if needed > free:
        raise TilewrightError(
            f"the weights take {bytes_text(needed)}, and {device} has {bytes_text(free)} free",
            remedy="--dtype bfloat16 takes half" if model.dtype is torch.float32 else "",
        )


class Compiler:
    """Compiles programs for one backend, and remembers them."""

    def __init__(self, backend: Backend, target: str, db: str | bool):
        self.programs: list[CompiledProgram] = []
        self._backend, self._target, self._db = backend, target, db

    def __call__(self, captured: Captured) -> Run:
        """
        Return the program on the backend. Raises `SimulationTooLarge` for what only a GPU does
        within minutes, before it is compiled.
        """
        check_simulation_size(self._backend, "the model", captured.module)
        program = CompiledProgram(captured, self._backend, self._target, self._db)
        self.programs.append(program)
        return program.run


def interpreted(captured: Captured) -> Run:
    """Loop IR on the interpreter: for tiny models faster than simulating their kernels."""
    module = lower(captured.module, Level.LOOP)
    return lambda values: interpreters.interpret(module, *map(as_array, values))
