# SPDX-License-Identifier: Apache-2.0
"""
Running a model's programs for the commands: the device, and compiled or interpreted execution.
"""

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
from tilewright.tools.input.source import set_precision


def device_of(backend: Backend) -> str:
    """Return the PyTorch device on which a backend expects its tensors."""
    return backend.device if isinstance(backend, TensorBackend) else "cpu"


def check_room(model: Any, device: str) -> None:
    """Raise `TilewrightError` if a GPU has too little free memory for the model's weights."""
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
    """
    Compiler of programs for one backend and precision of float32 products; it keeps a list of the
    compiled programs.
    """

    def __init__(self, backend: Backend, target: str, db: str | bool, precision: str | None = None):
        self.programs: list[CompiledProgram] = []
        self._backend, self._target, self._db = backend, target, db
        self._precision = precision

    def __call__(self, captured: Captured) -> Run:
        """
        Compile a program; return a function that runs it on the backend. Raises
        `SimulationTooLarge` before compiling if only a GPU can run the program within minutes.
        """
        set_precision(captured.module, self._precision)
        check_simulation_size(self._backend, "the model", captured.module)
        program = CompiledProgram(captured, self._backend, self._target, self._db)
        self.programs.append(program)
        return program.run


def interpreted(captured: Captured, precision: str | None = None) -> Run:
    """
    Return a function that interprets the program at Loop IR, in a precision of float32 products;
    for tiny models this is faster than simulating kernels.
    """
    set_precision(captured.module, precision)
    module = lower(captured.module, Level.LOOP)
    return lambda values: interpreters.interpret(module, *map(as_array, values))
