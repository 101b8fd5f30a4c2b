# SPDX-License-Identifier: Apache-2.0
"""
Programs run on random inputs for one check of a pass after the other, none twice in a row: what a
pass leaves behind is what the next one finds, and many passes leave everything as it is.
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
from tilewright.interpreters.types import Array, ElementTypes


class Draw(NamedTuple):
    """Random inputs; of types no more matters than shapes and elements."""

    types: Sequence[Attribute]
    seed: int
    is_positive: bool

    def inputs(self, widened: bool = True) -> list[Array]:
        """Return equal inputs each time: floats in float64, or rounded to their own types."""
        rng = np.random.default_rng(self.seed)
        return [self._input(rng, type, widened) for type in self.types]

    def _input(self, rng: np.random.Generator, type: Attribute, widened: bool) -> Array:
        shape, element_type = shape_and_element(type)
        dtype = ElementTypes()[element_type]
        if not isinstance(element_type, AnyFloat):
            return rng.integers(0, 2, shape).astype(dtype)
        values = np.asarray(rng.standard_normal(shape))
        values = np.abs(values) + 0.1 if self.is_positive else values
        return values if widened else values.astype(dtype)


class RandomRuns:
    """Runs programs in float64, and remembers the results of this check and of the last one."""

    def __init__(self) -> None:
        self._now = dict[Hashable, list[Array]]()
        self._before = dict[Hashable, list[Array]]()
        self._keys = dict[Operation, Hashable]()
        """Runs of this check, during which no program changes."""

    def begin(self) -> None:
        """Another check; what the last one did not ask for is forgotten."""
        self._now, self._before = {}, self._now
        self._keys = {}

    def results(self, module: ModuleOp, name: str, draw: Draw) -> list[Array]:
        """Return the results of `@name`, which fits memory, for inputs of the types of `draw`."""
        ran = self._key(module, name), name, draw.seed, draw.is_positive
        if (found := self._now.get(ran, self._before.get(ran))) is None:
            found = interpret_fitting(module, draw.inputs(), name, np.float64)
        self._now[ran] = found
        return found

    def _key(self, module: ModuleOp, name: str) -> Hashable:
        """Return what `@name` computes: a kernel by itself, a function with all of the module."""
        kernels = (op for op in module.ops if isinstance(op, KernelOp | FuncOp))
        program = next((op for op in kernels if symbol_of(op) == name), module)
        if program not in self._keys:
            self._keys[program] = structure(program)
        return self._keys[program]
