# SPDX-License-Identifier: Apache-2.0
"""Layout of a block's shared arrays, with gaps so that an access past an end is detected."""

from tilewright.codegen.simulator.kernel import Variable

_GAP = 1024
_DYNAMIC_ALIGN = 1024


class SharedLayout:
    """Address of each variable, in bytes from the start of a block's shared memory."""

    def __init__(self, variables: list[Variable], dynamic_bytes: int):
        self.addresses: dict[str, int] = {}
        self.ranges: list[tuple[int, int]] = []
        end = 0
        for variable in variables:
            if variable.size:
                start = -(-end // variable.align) * variable.align
                self.addresses[variable.name] = start
                self.ranges.append((start, start + variable.size))
                end = start + -(-(variable.size + _GAP) // _GAP) * _GAP
        start = -(-end // _DYNAMIC_ALIGN) * _DYNAMIC_ALIGN
        self.addresses.update({variable.name: start for variable in variables if not variable.size})
        if dynamic_bytes:
            self.ranges.append((start, start + dynamic_bytes))
        self.size = -(-(start + dynamic_bytes) // 128) * 128 if self.ranges else 0
