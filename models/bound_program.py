# SPDX-License-Identifier: Apache-2.0
"""
Captured program of a model, bound to its weights and to the tensors that it is called with each
time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.capture import Captured
from tilewright.frontend.in_place_writes import write_back
from tilewright.models.weights import arguments_of

Run = Callable[[Sequence[Any]], list[Any]]
"""
Function from the values of all inputs of a program, in order, to all its results, as tensors or
arrays.
"""

Compile = Callable[[Captured], Run]


class BoundProgram:
    """
    Program whose arguments are the same tensors in every call; only their contents change.

    The program's kernels therefore find all arguments at the addresses of the previous call.
    """

    def __init__(
        self, captured: Captured, run: Run, weights: Mapping[str, Any], arguments: Iterable[Any]
    ):
        """
        Bind `captured` to `weights`, by the model's names, and to `arguments`, flat, in the
        program's order.
        """
        self._captured, self._run = captured, run
        stored, given = iter(arguments_of(captured, weights)), iter(arguments)
        kinds = [input.kind for input in captured.inputs]
        self.values = [next(given if kind == "input" else stored) for kind in kinds]

    def __call__(self) -> Any:
        """
        Run the program, and write back what it writes in place; return its last result as a tensor.
        """
        results = self._run(self.values)
        write_back(self._captured, self.values, results)
        return tensor_of(results[-1])
