# SPDX-License-Identifier: Apache-2.0
"""Memory as a queue: the bandwidth that bytes in flight reach, and the latency of requests."""

import pytest

from tilewright.codegen.report.clock.flight import Flight, MemoryRates, loaded_latency

CLOCK, SMS = 1.98e9, 132
PEAK = 0.9 * 3.35e12 / CLOCK / SMS


@pytest.mark.parametrize(
    ("kibibytes", "terabytes"),
    # measured on an H100: benchmarks/results/nvidia-h100-80gb-hbm3, stage micro, flight
    [(4, 1.246), (8, 2.12), (16, 2.686), (32, 2.932), (64, 2.978), (128, 3.009)],
)
def test_bytes_in_flight_reach_the_measured_bandwidth(kibibytes: int, terabytes: float):
    in_flight = 1024.0 * kibibytes
    clocks = loaded_latency(in_flight, PEAK, 700)
    assert SMS * in_flight / clocks * CLOCK == pytest.approx(1e12 * terabytes, rel=0.1)


def rates(device_share: float = 1.0) -> MemoryRates:
    return MemoryRates(PEAK, 64, 700, 290, device_share)


def test_a_single_request_takes_the_latency():
    assert Flight(rates()).request(0, 128) == pytest.approx(700, rel=0.01)
    assert Flight(rates(0.0)).request(10, 128) == pytest.approx(10 + 2 + 290)


def test_many_requests_take_their_bytes_over_the_bandwidth():
    flight = Flight(rates())
    done = max(flight.request(0, 512) for _ in range(1000))
    assert done == pytest.approx(512_000 / PEAK, rel=0.01)


def test_requests_that_are_done_make_room():
    flight = Flight(rates())
    first = flight.request(0, 4096)
    assert flight.request(first, 4096) - first == pytest.approx(first)


def test_a_share_of_the_requests_comes_from_device_memory():
    flight = Flight(rates(0.25))
    taken = [flight.request(10_000 * n, 128) - 10_000 * n for n in range(100)]
    assert sum(clocks > 600 for clocks in taken) == pytest.approx(25, abs=2)
