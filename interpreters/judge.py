# SPDX-License-Identifier: Apache-2.0
"""Comparison of many results with the right results of one program for one set of inputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tilewright.interpreters.comparison import Array, compare
from tilewright.interpreters.program import Program


class Judge:
    """
    Checker of results by the rules of `tilewright run`, which computes the right results once.
    """

    def __init__(self, program: Program, inputs: Sequence[Array]):
        assert program.exact is not None
        self._inputs = inputs
        self._program = replace(
            program,
            exact=_once(program.exact),
            rounded=_once(program.rounded),
            perturbed=_once(program.perturbed),
            coarse=None if program.coarse is None else _once(program.coarse),
        )

    def prepare(self) -> None:
        """Compute the right results now instead of at the first comparison; this may take long."""
        self.problem(self._program.rounded(self._inputs))

    def problem(self, outputs: Sequence[Array]) -> str:
        """Return the reason why outputs are wrong; empty if they are right."""
        found = compare(self._program, self._inputs, outputs)
        return next((comparison.reason for comparison in found if comparison.reason), "")


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a version of `function` that computes its results once for each tuple of numbers. The
    inputs must be equal at each call.
    """
    results: dict[tuple[Any, ...], Any] = {}

    def kept(inputs: Sequence[Any], *numbers: float) -> Any:
        if numbers not in results:
            results[numbers] = function(inputs, *numbers)
        return results[numbers]

    return kept
