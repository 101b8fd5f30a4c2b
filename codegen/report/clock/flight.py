# SPDX-License-Identifier: Apache-2.0
"""
Device memory and L2 as an SM sees them: queues with bytes in flight.

By Little's law, a request's latency is the number of bytes in flight over the bandwidth that this
number reaches. Collisions between requests make the curve soft:

    bandwidth(n) = peak * (1 - exp(-n / (peak * latency)))

On an H100 the curve is within 10 % of the measured one (`benchmarks/gpu_check.py`, `micro flight`):

| KiB in flight per SM | 4    | 8    | 16   | 32   | 64   | 128  |
|----------------------|------|------|------|------|------|------|
| TB/s, measured       | 1.25 | 2.12 | 2.69 | 2.93 | 2.98 | 3.01 |
| TB/s, model          | 1.20 | 1.92 | 2.62 | 2.96 | 3.01 | 3.01 |
"""

from heapq import heappop, heappush
from math import exp
from typing import NamedTuple

_ROUNDING = 1e-6
"""Share of a request that may be missing by rounding."""


class MemoryRates(NamedTuple):
    """Rates of memory for one SM, in bytes a clock and in clocks."""

    device_bytes: float
    """Bytes that device memory delivers in a clock, reads and writes together."""
    l2_bytes: float
    device_latency: float
    l2_latency: float
    device_share: float
    """Share of the requested bytes that come from device memory, or go there; L2 has the rest."""


def loaded_latency(in_flight: float, peak: float, latency: float) -> float:
    """
    Return the clocks of a request while `in_flight` bytes are on the way, its own included. `peak`
    is in bytes a clock, and `latency` is that of a single request.
    """
    if in_flight <= 0:
        return latency
    return in_flight / (peak * (1 - exp(-in_flight / (peak * latency))))


class Flight:
    """Requests of an SM that are on the way to device memory or L2."""

    def __init__(self, rates: MemoryRates):
        self.rates = rates
        self._arrivals: list[tuple[float, float]] = []
        """Times at which requests to device memory are done, with their bytes; a heap."""
        self._in_flight = 0.0
        self._free = 0.0
        """Time at which the path to L2 has delivered all earlier requests."""
        self._owed = 0.0
        """Bytes of device memory that requests so far should have moved and have not."""

    def request(self, now: float, num_bytes: float) -> float:
        """Return the time at which a request for `num_bytes` that begins now is done."""
        rates = self.rates
        self._free = max(self._free, now) + num_bytes / rates.l2_bytes
        self._owed += num_bytes * rates.device_share
        if self._owed < (1 - _ROUNDING) * num_bytes:
            return self._free + rates.l2_latency
        self._owed -= num_bytes
        while self._arrivals and self._arrivals[0][0] <= now:
            self._in_flight -= heappop(self._arrivals)[1]
        self._in_flight += num_bytes
        latency = loaded_latency(self._in_flight, rates.device_bytes, rates.device_latency)
        done = max(self._free, now + latency)
        heappush(self._arrivals, (done, num_bytes))
        return done
