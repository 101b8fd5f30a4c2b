# SPDX-License-Identifier: Apache-2.0
"""
Stage `estimates`: the estimated times of the programs in races, which `disagreements` compares with
the measured times.
"""

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, missing, right
from gpu_checks.suite import SUITES, case_named


def items(device: Device) -> list[str]:
    """Return the names `STEM/CASE`, in the order of the races, each once; none without a GPU."""
    if not device.is_gpu:
        return []
    return [*dict.fromkeys(f"{suite.stem}/{case}" for suite in SUITES for case in suite.names)]


def check(device: Device, item: str) -> Outcome:
    """Return the outcome with the estimated time of a case, the sum over its launches."""
    from tilewright.tools.bench.static_rows import rows_of

    rows = [*rows_of(case_named(item), device.target, db=True, by_clock=False)]
    if unknown := [row.kernel for row in rows if row.estimate_us is None]:
        return missing(f"there is no estimate of kernel '{unknown[0]}'")
    us = sum(row.launches * (row.estimate_us or 0.0) for row in rows)
    return right(f"{us:.1f} us, {len(rows)} kernels", us=us)
