# SPDX-License-Identifier: Apache-2.0
"""How commands run the programs of a model: compiled, or interpreted."""

from tilewright import interpreters
from tilewright.api import CompiledProgram
from tilewright.arrays import as_array
from tilewright.codegen.execution import Backend
from tilewright.codegen.simulator_backend import check_reach
from tilewright.frontend.capture import Captured
from tilewright.models.bound_program import Run
from tilewright.passes.levels import Level
from tilewright.passes.lowering import lower


class Compiler:
    """Compiles programs for one backend, and remembers them."""

    def __init__(self, backend: Backend, target: str, db: str | bool):
        self.programs: list[CompiledProgram] = []
        self._backend, self._target, self._db = backend, target, db

    def __call__(self, captured: Captured) -> Run:
        """
        The program on the backend. Raises `SimulationTooLarge` for what only a GPU does within
        minutes, before it is compiled.
        """
        check_reach(self._backend, "the model", captured.module)
        program = CompiledProgram(captured, self._backend, self._target, self._db)
        self.programs.append(program)
        return program.run


def interpreted(captured: Captured) -> Run:
    """Loop IR on the interpreter: for tiny models faster than simulating their kernels."""
    module = lower(captured.module, Level.LOOP)
    return lambda values: interpreters.interpret(module, *map(as_array, values))
