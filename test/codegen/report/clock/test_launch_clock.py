# SPDX-License-Identifier: Apache-2.0
"""Times of whole launches by the clock: rounds, loops that are cut, and shares of waits."""

from functools import cache

import pytest
import torch

import tilewright
from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.report.clock.launch_clock import LAUNCH_SECONDS, clock
from tilewright.codegen.report.clock.machine import device_named
from tilewright.codegen.report.clock.timeline import Timeline
from tilewright.codegen.report.clock.waits import Wait
from tilewright.dialects.target import target
from tilewright.tuning.evaluators.compiled import scheduled

H100 = target("sm_90a")

PRODUCT = """
loop.kernel @product(
  %a: memref<512x{K}xf32>, %b: memref<{K}x512xf32>
) -> (%c: memref<512x512xf32>) {
  loop.for %i in 512, %j in 512 {
    %sum = loop.reduce %k in {K} with add {
      %0 = loop.load %a[%i, %k] : memref<512x{K}xf32>
      %1 = loop.load %b[%k, %j] : memref<{K}x512xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %c[%i, %j] : memref<512x512xf32>
  }
}
"""
SIMT = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=64 n=64},stage-inputs,"
    "register-tile{fm=8 fn=4 min_blocks=2},permute-register-tile,double-buffer{depth=3},"
    "async-copy,pipeline-k-outer{lookahead=2},mark-unroll"
)


@cache
def rows(number: int) -> KernelEvidence:
    module = tilewright.capture(
        torch.nn.RMSNorm(2048, device="meta"), torch.zeros(number, 2048, device="meta")
    ).module
    (kernel,) = report_of(module, H100).kernels
    return kernel


@cache
def product(k: int) -> Timeline:
    text = PRODUCT.replace("{K}", str(k))
    (kernel,) = report_of(scheduled(text, SIMT), H100).kernels
    assert kernel.clock is not None
    return kernel.clock


def test_many_rows_take_their_bytes_over_the_bandwidth():
    kernel = rows(32768)
    assert kernel.clock is not None
    by_bytes = 2 * 4 * 32768 * 2048 / (0.9 * H100.bandwidth)
    assert kernel.clock.seconds == pytest.approx(by_bytes, rel=0.05)
    assert kernel.clock.bound == Wait.MEMORY


def test_few_rows_take_latencies():
    kernel = rows(64)
    assert kernel.clock is not None
    # at least two accesses to device memory, one after the other, and a barrier
    assert LAUNCH_SECONDS + 800 / H100.clock < kernel.clock.seconds < 4e-6


def test_a_device_with_less_bandwidth_takes_longer():
    kernel = rows(32768)
    assert kernel.facts is not None
    assert kernel.clock is not None
    slower = clock(kernel.facts, H100, device_named("h100-pcie"))
    ratio = H100.bandwidth / device_named("h100-pcie").bandwidth
    assert slower.seconds / kernel.clock.seconds == pytest.approx(ratio, rel=0.05)


def test_a_loop_that_is_cut_takes_as_long_as_all_of_its_steps():
    short, long = product(512), product(4096)
    # a fixed part for the first answer and the results, and equal times for equal steps
    each = (long.seconds - short.seconds) / (4096 - 512)
    of_64_blocks = 2 * 512 * 512 / H100.flops * H100.sms / 64
    assert 1 < each / of_64_blocks < 2.5
    assert 0.3 * short.seconds < 512 * each < short.seconds
    assert long.issued < 200_000


def test_shares_of_waits_are_shares():
    found = product(512)
    assert 0 < sum(found.shares.values()) < 1
    assert list(found.shares.values()) == sorted(found.shares.values(), reverse=True)
    of_lines = [line.share for line in found.lines]
    assert of_lines == sorted(of_lines, reverse=True)
    assert sum(of_lines) <= sum(found.shares.values()) + 1e-9


def test_equal_input_gives_equal_times():
    kernel = rows(64)
    assert kernel.facts is not None
    assert clock(kernel.facts, H100) == kernel.clock
