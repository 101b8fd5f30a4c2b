# SPDX-License-Identifier: Apache-2.0
"""A captured program of a model, bound to the weights, and to what it is called with each time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.capture import Captured
from tilewright.frontend.in_place_writes import write_back
from tilewright.models.weights import arguments_of

Run = Callable[[Sequence[Any]], list[Any]]
"""All results of a program, tensors or arrays, for the values of all its inputs in order."""

Compile = Callable[[Captured], Run]


class BoundProgram:
    """
    A program whose arguments are always the same tensors: what is in them changes.

    So its kernels find everything where it was at the call before.
    """

    def __init__(
        self, captured: Captured, run: Run, weights: Mapping[str, Any], arguments: Iterable[Any]
    ):
        """`weights` as the model calls them; `arguments` in the order of the program's, flat."""
        self._captured, self._run = captured, run
        stored, given = iter(arguments_of(captured, weights)), iter(arguments)
        kinds = [input.kind for input in captured.inputs]
        self.values = [next(given if kind == "input" else stored) for kind in kinds]

    def __call__(self) -> Any:
        """What the program returns beside what it writes in place: one tensor."""
        results = self._run(self.values)
        write_back(self._captured, self.values, results)
        return tensor_of(results[-1])
