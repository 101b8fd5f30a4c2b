# SPDX-License-Identifier: Apache-2.0
"""
Runs of programs on random inputs for consecutive checks of passes.

The output of one pass is the input of the next, and many passes change nothing. Results are
therefore kept from one check to the next.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Attribute, Operation

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.structure import structure
from tilewright.interpreters.arguments import shape_and_element
from tilewright.interpreters.errors import symbol_of
from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.interpreters.types import Array, ElementTypes


class Draw(NamedTuple):
    """
    Recipe for random inputs: types, of which only shapes and element types matter, and a seed. With
    `numbers`, floats are random numbers of this system. Other floats are multiplied by `scale`.
    """

    types: Sequence[Attribute]
    seed: int
    is_positive: bool = False
    numbers: ExactNumbers | None = None
    scale: float = 1.0

    def inputs(self, widened: bool = True) -> list[Array]:
        """
        Return the inputs, which are equal at each call. Floats are float64; unless `widened`, they
        are rounded to their own types.
        """
        rng = np.random.default_rng(self.seed)
        return [self._input(rng, type, widened) for type in self.types]

    def _input(self, rng: np.random.Generator, type: Attribute, widened: bool) -> Array:
        shape, element_type = shape_and_element(type)
        dtype = ElementTypes()[element_type]
        if not isinstance(element_type, AnyFloat):
            return rng.integers(0, 2, shape).astype(dtype)
        if self.numbers is not None:
            return self.numbers.draw(rng, shape)
        values = np.asarray(rng.standard_normal(shape)) * self.scale
        values = np.abs(values) + 0.1 if self.is_positive else values
        return values if widened else values.astype(dtype)


class RandomRuns:
    """
    Runs of programs in float64 or in exact numbers, which keep the results of this check and of the
    last one.
    """

    def __init__(self) -> None:
        self._now = dict[Hashable, list[Array]]()
        self._before = dict[Hashable, list[Array]]()
        self._keys = dict[Operation, Hashable]()
        """
        Cache key of each program of this check, made of its IR; no program changes during a check.
        """

    def begin(self) -> None:
        """Begin another check: keep the results that the last check used, and drop all others."""
        self._now, self._before = {}, self._now
        self._keys = {}

    def results(self, module: ModuleOp, name: str, draw: Draw) -> list[Array]:
        """
        Return the results of `@name` for inputs of the types of `draw`. The program must fit into
        memory.
        """
        ran = self._key(module, name), name, draw[1:]
        if (found := self._now.get(ran, self._before.get(ran))) is None:
            types = ElementTypes(np.float64, numbers=draw.numbers)
            found = interpret_fitting(module, draw.inputs(), name, types)
        self._now[ran] = found
        return found

    def _key(self, module: ModuleOp, name: str) -> Hashable:
        """
        Return the key under which results of `@name` are cached: the structure of its kernel, or
        for a function that of the whole module.
        """
        kernels = (op for op in module.ops if isinstance(op, KernelOp | FuncOp))
        program = next((op for op in kernels if symbol_of(op) == name), module)
        if program not in self._keys:
            self._keys[program] = structure(program)
        return self._keys[program]
