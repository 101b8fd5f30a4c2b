# SPDX-License-Identifier: Apache-2.0
"""
Loads by the non-coherent path: `ld.global.nc` (`__ldg`, `const __restrict__`) and `ldu`.

They may only read memory that is read-only for the whole kernel. The memory consistency model does
not apply to them (PTX ISA, "Scope and Applicability"). Nothing therefore orders a non-coherent load
after a write of the same kernel: no barrier, fence or atomic, and not even program order.
"""

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Access, Block, Mode
from tilewright.codegen.simulator.operands import Instruction


def is_non_coherent(instruction: Instruction) -> bool:
    """True if a load uses the path that is not coherent with writes of the kernel."""
    return instruction.root == "ldu" or "nc" in instruction.parts


def loads_non_coherently(kernel: Kernel) -> bool:
    """True if a kernel has a non-coherent load."""
    return any(map(is_non_coherent, kernel.instructions))


class NonCoherentLoads:
    """Check of non-coherent loads against the bytes of each array that the launch has written."""

    def __init__(self, geometry: Geometry, findings: Findings):
        self._geometry = geometry
        self._findings = findings
        self._written: dict[int, Block] = {}
        """Written bytes of each array, by its address: 1 for each byte that was written."""

    def check(
        self, base: int, bytes: int, what: str, lanes: Integers, offsets: Integers, access: Access
    ) -> None:
        """
        Record a write to an array; for a non-coherent load, report bytes that the kernel has
        written.

        The array has `bytes` bytes and the address `base`; `offsets` lie in it.
        """
        if access.mode in (Mode.STORE, Mode.ATOMIC):
            if base not in self._written:
                self._written[base] = Block(np.zeros(bytes, np.uint8))
            items = self._written[base].items(access.size)
            items[offsets // access.size] = np.ones(access.size, np.uint8).view(items.dtype)
        elif not access.coherent and base in self._written:
            self._check_load(self._written[base], what, lanes, offsets, access)

    def _check_load(
        self, written: Block, what: str, lanes: Integers, offsets: Integers, access: Access
    ) -> None:
        found: NDArray[np.bool_] = written.items(access.size)[offsets // access.size] != 0
        if not found.any():
            return
        lane = int(lanes[np.argmax(found)])
        self._findings.add(
            Kind.NON_COHERENT,
            access.line,
            f"{self._geometry.name(lane)} reads a place of {what} by a load that is not coherent "
            "(__ldg, const __restrict__), but the kernel has written there",
        )
