# SPDX-License-Identifier: Apache-2.0
"""Compares many results with what one program computes of one set of inputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tilewright.interpreters.comparison import Array, compare
from tilewright.interpreters.program import Program


class Judge:
    """Compares results, by the rules of `tilewright run`; what they should be is computed once."""

    def __init__(self, program: Program, inputs: Sequence[Array]):
        assert program.exact is not None
        self._inputs = inputs
        self._program = replace(
            program,
            exact=_once(program.exact),
            rounded=_once(program.rounded),
            disturbed=_once(program.disturbed),
        )

    def prepare(self) -> None:
        """Compute what is right now, rather than when the first results come; it may take long."""
        self.problem(self._program.rounded(self._inputs))

    def problem(self, outputs: Sequence[Array]) -> str:
        """What is wrong with outputs; empty if nothing is."""
        found = compare(self._program, self._inputs, outputs)
        return next((comparison.reason for comparison in found if comparison.reason), "")


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a function of inputs, and of numbers, that computes each result once for the same inputs.
    """
    results: dict[tuple[Any, ...], Any] = {}

    def kept(inputs: Sequence[Any], *numbers: float) -> Any:
        if numbers not in results:
            results[numbers] = function(inputs, *numbers)
        return results[numbers]

    return kept
