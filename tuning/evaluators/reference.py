# SPDX-License-Identifier: Apache-2.0
"""What a kernel should compute: as its Loop IR is interpreted, in float64, of random inputs."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tilewright.arrays import array_of
from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.random_inputs import random_inputs
from tilewright.interpreters.judge import Judge
from tilewright.interpreters.program import Array, interpreted_program
from tilewright.tuning.evaluators.compiled import scheduled

SEED = 0
"""Of the inputs: each process draws the same ones."""


class Reference:
    """The inputs of a kernel, and what is right for them by the rules of `tilewright run`."""

    def __init__(self, kernel: str, inputs: Sequence[ArrayType], tell: Callable[[str], None]):
        self.inputs: list[Array] = random_inputs(inputs, SEED)
        program = interpreted_program(scheduled(kernel))
        self._judge = Judge(program, self.inputs, tell)

    def complaint(self, outputs: Sequence[Any]) -> str:
        """What is wrong with tensors; empty if nothing is. The first call takes the longest."""
        return self._judge.problem([array_of(output) for output in outputs])


@lru_cache(maxsize=1)  # a process measures one kernel after the other
def reference(kernel: str, inputs: tuple[ArrayType, ...], tell: Callable[[str], None]) -> Reference:
    """That of a kernel, which is computed once."""
    return Reference(kernel, inputs, tell)
