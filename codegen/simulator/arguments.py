# SPDX-License-Identifier: Apache-2.0
"""Arguments of a launch: arrays get addresses, numbers become bytes."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.global_memory import Array, GlobalMemory
from tilewright.codegen.simulator.kernel import Parameter
from tilewright.codegen.simulator.operands import TYPES
from tilewright.codegen.simulator.tensor_map import TensorMap

Argument = NDArray[np.generic] | int | float | np.generic | TensorMap
"""Argument of a kernel: an array is passed by pointer, a number or a tensor map by value."""

_TENSOR_MAP_BYTES = 128


class Arguments:
    """Conversion of a launch's arguments into the bytes of its parameters."""

    def __init__(self, memory: GlobalMemory, read_only: Collection[int]):
        self._memory = memory
        self._read_only = read_only
        self._placed: dict[tuple[int, int], int] = {}

    def bytes_of(
        self, parameter: Parameter, number: int, arguments: Sequence[Argument]
    ) -> NDArray[np.uint8]:
        argument = arguments[number]
        what = f"argument {number}"
        if isinstance(argument, np.ndarray):
            if parameter.type not in ("u64", "b64"):
                raise SimulatorError(f"{what} is an array, but the kernel expects {parameter.type}")
            address = self._place(argument, number, arguments)
            return np.array([address], np.uint64).view(np.uint8)
        if isinstance(argument, TensorMap):
            if parameter.length != _TENSOR_MAP_BYTES:
                raise SimulatorError(f"{what} is a tensor map, but the kernel expects another type")
            return np.zeros(_TENSOR_MAP_BYTES, np.uint8)
        return _scalar(argument, parameter, what)

    def array_of(self, number: int, arguments: Sequence[Argument]) -> Array:
        """
        Return the memory of the array that the tensor map with this number among `arguments`
        describes.
        """
        argument = arguments[number]
        assert isinstance(argument, TensorMap)
        return self._memory.array_at(self._place(argument.array, number, arguments))

    def _place(self, array: NDArray[np.generic], number: int, arguments: Sequence[Argument]) -> int:
        if not array.flags.c_contiguous or not array.dtype.isnative:
            raise SimulatorError(f"argument {number} is not a contiguous array in native order")
        key = (array.ctypes.data, array.nbytes)
        if key not in self._placed or not array.nbytes:
            same = [
                other
                for other, value in enumerate(map(_memory, arguments))
                if value is not None and (value.ctypes.data, value.nbytes) == key
            ]
            read_only = not array.flags.writeable or any(x in self._read_only for x in same)
            data = array.reshape(-1).view(np.uint8)
            self._placed[key] = self._memory.add(
                data, f"argument {number}", read_only, array.itemsize
            )
        return self._placed[key]


def _memory(argument: Argument) -> NDArray[np.generic] | None:
    if isinstance(argument, TensorMap):
        return argument.array
    return argument if isinstance(argument, np.ndarray) else None


def _scalar(
    argument: int | float | np.generic, parameter: Parameter, what: str
) -> NDArray[np.uint8]:
    dtype = TYPES.get(parameter.type)
    if dtype is None or parameter.length is not None:
        raise SimulatorError(f"{what}: the simulator cannot pass a {parameter.type} by value")
    value = argument.item() if isinstance(argument, np.generic) else argument
    if dtype.kind == "f":
        return np.array([value], dtype).view(np.uint8)
    bits = 8 * dtype.itemsize
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits:
        raise SimulatorError(f"{what} is {value!r}, which is no {bits}-bit integer")
    return np.array([value & (1 << bits) - 1], f"u{dtype.itemsize}").view(np.uint8)
