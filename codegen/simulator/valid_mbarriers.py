# SPDX-License-Identifier: Apache-2.0
"""
Memory that is a valid mbarrier, from `mbarrier.init` to `mbarrier.inval`.

Only mbarrier instructions may access it: PTX ISA, "mbarrier.init" and "mbarrier.inval".
"""

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.memory import Mode
from tilewright.codegen.simulator.touches import Touch

_BYTES = 8


class ValidMBarriers:
    """
    Addresses of the valid mbarriers of a batch; `block_bytes` is the shared memory of a block.
    """

    def __init__(self, block_bytes: int, geometry: Geometry, findings: Findings):
        self._block_bytes = block_bytes
        self._geometry = geometry
        self._findings = findings
        self._starts: set[int] = set()
        self._low, self._high = block_bytes, 0

    def add(self, offset: int) -> None:
        """Record an mbarrier at a byte of the batch."""
        self._starts.add(offset)
        within = offset % self._block_bytes
        self._low, self._high = min(self._low, within), max(self._high, within + _BYTES)

    def discard(self, offset: int) -> None:
        """Forget the mbarrier at a byte of the batch."""
        self._starts.discard(offset)

    def check(self, touch: Touch, mode: Mode) -> None:
        """Report an access to a valid mbarrier by an instruction that is not for mbarriers."""
        if touch.high <= self._low or self._high <= touch.low or not self._starts:
            return
        start = touch.cells * touch.granule // _BYTES * _BYTES
        valid = np.isin(start, np.fromiter(self._starts, np.int64))
        if not valid.any():
            return
        row = int(np.nonzero(valid)[0][0])
        self._findings.add(
            Kind.MBARRIER,
            touch.line,
            f"{self._geometry.name(int(touch.lanes[row]))} {mode.value} byte "
            f"{int(start[valid][0]) % self._block_bytes} of shared memory, which is a valid "
            "mbarrier: mbarrier.inval makes it memory again",
        )
