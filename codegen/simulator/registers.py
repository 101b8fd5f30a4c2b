# SPDX-License-Identifier: Apache-2.0
"""
Registers of all lanes: one array per register, and operands as arrays of a type.

Literals and addresses of variables are arrays with stride 0, so that an instruction treats all
operands the same way.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.operands import (
    TYPES,
    Immediate,
    Operand,
    Register,
    Sink,
    Symbol,
)

Values = NDArray[Any]
"""Array with one value per lane."""


class Registers:
    """
    Register file of `lanes` lanes.

    `declared` maps names to PTX types; `addresses` gives each variable's address in its space.
    """

    def __init__(self, lanes: int, declared: Mapping[str, str], addresses: Mapping[str, int]):
        self.lanes = lanes
        self.declared = declared
        self.addresses = addresses
        self.condition_code: NDArray[np.bool_] = np.zeros(lanes, np.bool_)
        """Carry of each lane's last instruction with `.cc`."""
        self._arrays: dict[str, Values] = {}

    def set_special(self, values: Mapping[str, Integers]) -> None:
        """
        Write the special registers of a batch in place, because steps keep references to the
        arrays.
        """
        for name, value in values.items():
            self._arrays.setdefault(name, np.zeros(self.lanes, np.uint32))[:] = value

    def width(self, operand: Operand) -> int:
        """Return the bytes of a register; 8 for any other operand."""
        return self._array(operand.name).itemsize if isinstance(operand, Register) else 8

    def source(self, operand: Operand, type: str | np.dtype) -> Values:
        """
        Return the operand's value for every lane, as an array of the type; of a wider register,
        only the low part.
        """
        dtype = TYPES[type] if isinstance(type, str) else type
        match operand:
            case Register(name):
                return _low_part(self._array(name), dtype, name)
            case Immediate(bits):
                return self._constant(bits, dtype)
            case Symbol(name) if name in self.addresses:
                return self._constant(self.addresses[name], dtype)
            case _:
                raise SimulatorError(f"the operand {operand} is no value")

    def target(self, operand: Operand, type: str | np.dtype) -> Values:
        """Return the array into which an instruction writes its result of this type."""
        dtype = TYPES[type] if isinstance(type, str) else type
        if isinstance(operand, Sink):
            return np.zeros(self.lanes, dtype)
        if not isinstance(operand, Register):
            raise SimulatorError(f"the operand {operand} cannot be written")
        return _low_part(self._array(operand.name), dtype, operand.name)

    def widened(self, operand: Operand, type: str) -> Values:
        """
        Return the array to write a result to that is extended to the width of its register.

        If the register has the width of the type, this is the array that `target` returns.
        """
        dtype = TYPES[type]
        if not isinstance(operand, Register):
            return self.target(operand, dtype)
        array = self._array(operand.name)
        if array.itemsize == dtype.itemsize:
            return array.view(dtype)
        return array.view(f"{'i' if dtype.kind == 'i' else 'u'}{array.itemsize}")

    def _array(self, name: str) -> Values:
        if name not in self._arrays:
            if name not in self.declared:
                raise SimulatorError(f"the simulator does not know the register {name}")
            self._arrays[name] = np.zeros(self.lanes, TYPES[self.declared[name]])
        return self._arrays[name]

    def _constant(self, bits: int, dtype: np.dtype) -> Values:
        if dtype.kind == "b":
            return np.broadcast_to(np.bool_(bits), self.lanes)
        pattern = np.array(bits & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}")
        return np.broadcast_to(pattern.view(dtype), self.lanes)


def _low_part(array: Values, dtype: np.dtype, name: str) -> Values:
    if array.itemsize == dtype.itemsize and (array.dtype.kind == "b") == (dtype.kind == "b"):
        return array.view(dtype)
    if array.itemsize < dtype.itemsize or "b" in (array.dtype.kind, dtype.kind):
        raise SimulatorError(f"the register {name} does not hold a {dtype}")
    return array.view(dtype).reshape(len(array), -1)[:, 0]
