# SPDX-License-Identifier: Apache-2.0
"""
Scalar ops as kernels with one thread an element: many in one module, each run in the simulator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator import simulate

from .kernel_ir import compile_clean, source_of

Array = NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "ui8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""Dtype of each element type."""

_BLOCK = 128


@dataclass(frozen=True)
class Case:
    """Ops to run: `lines` compute %r of type `result` from %v0, %v1, ... of types `sources`."""

    lines: str
    sources: tuple[str, ...]
    result: str


def simple(op: str, arity: int, type: str) -> Case:
    """Return the case of an op whose operands and result have one type."""
    operands = ", ".join(f"%v{i}" for i in range(arity))
    return Case(f"%r = {op} {operands} : {type}", (type,) * arity, type)


class Elementwise:
    """The kernels of some cases over arrays of `count` elements."""

    def __init__(self, cases: Sequence[Case], count: int):
        assert count % _BLOCK == 0
        self.count = count
        self.names = {case: f"k{number}" for number, case in enumerate(cases)}

    @cached_property
    def source(self) -> str:
        """CUDA text of all kernels."""
        return source_of("\n".join(map(self._kernel, self.names)))

    @cached_property
    def _ptx(self) -> str:
        return compile_clean(self.source)

    def _kernel(self, case: Case) -> str:
        of = f"memref<{self.count}x"
        arguments = ", ".join(f"%a{i}: {of}{type}>" for i, type in enumerate(case.sources))
        loads = "\n".join(
            f"  %v{i} = loop.load %a{i}[%b * {_BLOCK} + %t] : {of}{type}>"
            for i, type in enumerate(case.sources)
        )
        return f"""
kernel.func grid {self.count // _BLOCK} block {_BLOCK} @{self.names[case]}({arguments})
    -> (%out: {of}{case.result}>) {{
  %b = kernel.block_id
  %t = kernel.thread_id
{loads}
  {case.lines}
  loop.store %r, %out[%b * {_BLOCK} + %t] : {of}{case.result}>
}}"""

    def run(self, case: Case, *inputs: Array) -> Array:
        """Return the kernel's result for `inputs`, which have one length up to the count."""
        (length,) = {len(array) for array in inputs}
        padded = [
            np.resize(array.astype(DTYPES[type], copy=False), self.count)
            for array, type in zip(inputs, case.sources, strict=True)
        ]
        out = np.zeros(self.count, DTYPES[case.result])
        report = simulate(
            self._ptx,
            self.names[case],
            grid=self.count // _BLOCK,
            block=_BLOCK,
            arguments=[*padded, out],
            read_only=range(len(padded)),
        )
        assert report.errors == []
        return out[:length]
