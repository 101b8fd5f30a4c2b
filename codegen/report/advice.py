# SPDX-License-Identifier: Apache-2.0
"""
Advice on a kernel: what would have to change where its warps wait longest, by the clock.

    memory: device memory is busy, so only fewer bytes help: fusion, or half types

Each reason for waits has rows of a condition and an advice, of which the first that holds counts.
Advice follows from the model alone. No schedule was tried, and the tuner finds out what helps.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tilewright.codegen.report.clock.timeline import Timeline
from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.evidence import KernelEvidence
from tilewright.codegen.report.instruction import Category

_BUSY = 0.7
"""Share of the time for which a unit works at its full rate, from which it counts as busy."""

_WORTH = 0.1
"""Share of the warps' time from which a reason for waits gets an advice."""

_NOTABLE = 1.05
"""Factor of bank conflicts or sectors from which it counts."""


class Advice(NamedTuple):
    """Advice on one reason for waits."""

    wait: Wait
    share: float
    """Share of the warps' time that they wait for this reason."""
    line: int
    """Line of the CUDA text at which warps wait longest for this reason; 0 if unknown."""
    text: str

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line else ""
        return f"{self.wait} {100 * self.share:.0f} %{place}: {self.text}"


Row = tuple[Callable[[KernelEvidence], bool], str]


def advice(kernel: KernelEvidence) -> list[Advice]:
    """
    Return an advice for each reason for which warps wait a tenth of their time or longer, the
    longest first; none without a clock.
    """
    clock = kernel.clock
    if clock is None:
        return []
    return [
        Advice(wait, share, _line(clock, wait), _text(kernel, wait))
        for wait, share in clock.shares.items()
        if share >= _WORTH
    ]


def _line(clock: Timeline, wait: Wait) -> int:
    found = max(clock.lines, key=lambda line: line.shares.get(wait, 0.0), default=None)
    return found.line if found is not None and found.shares.get(wait) else 0


def _text(kernel: KernelEvidence, wait: Wait) -> str:
    text = next(text for holds, text in _ROWS[wait] if holds(kernel))
    occupancy, traffic = kernel.occupancy, kernel.traffic
    return text.format(
        grid=kernel.launch.grid,
        sms=kernel.target.sms,
        warps=occupancy.warps,
        most=occupancy.max_warps,
        limit=" and ".join(occupancy.limiters),
        sectors=traffic.sector_factor or 1.0,
        banks=traffic.bank_factor or 1.0,
    )


def _is_busy(*parts: str) -> Callable[[KernelEvidence], bool]:
    """Return a predicate: True if one of these parts of the estimate fills most of the time."""

    def holds(kernel: KernelEvidence) -> bool:
        if kernel.estimate is None or kernel.clock is None:
            return False
        longest = max(kernel.estimate.parts.get(part, 0.0) for part in parts)
        return longest >= _BUSY * kernel.clock.seconds

    return holds


def _leaves_sms_idle(kernel: KernelEvidence) -> bool:
    return kernel.launch.grid < kernel.target.sms


def _has_few_warps(kernel: KernelEvidence) -> bool:
    return 2 * kernel.occupancy.warps <= kernel.occupancy.max_warps


def _multiplies(kernel: KernelEvidence) -> bool:
    """True if the main loop has multiply-adds or matrix instructions."""
    kinds = (Category.FFMA, Category.HMMA, Category.MATRIX)
    return kernel.loop is not None and any(kernel.loop.mix.count(kind) for kind in kinds)


def _always(_: KernelEvidence) -> bool:
    return True


_FEW_WARPS: Row = (
    _has_few_warps,
    "other warps hide too little, {warps} of {most} are resident: use less of {limit}",
)

_IDLE: Row = (
    _leaves_sms_idle,
    "{grid} blocks leave some of {sms} SMs idle: make tiles smaller, or split sums over blocks",
)

_ROWS: Mapping[Wait, Sequence[Row]] = {
    Wait.MEMORY: (
        (
            lambda kernel: (kernel.traffic.sector_factor or 1.0) > _NOTABLE,
            "sectors have {sectors:.2f} times the bytes that threads use: let neighbouring threads "
            "access neighbouring elements",
        ),
        (
            _is_busy("device memory"),
            "device memory is busy, so only fewer bytes help: fusion, or half types",
        ),
        (_is_busy("L2"), "L2 is busy: make tiles larger, so that blocks read less again"),
        _IDLE,
        _FEW_WARPS,
        (_always, "keep more bytes in flight: wider loads, or a deeper `double-buffer`"),
    ),
    Wait.SHARED: (
        (
            lambda kernel: (kernel.traffic.bank_factor or 1.0) > _NOTABLE,
            "conflicts make {banks:.2f} wavefronts of one: pad slabs (`pad-smem`), or deal threads "
            "otherwise (`permute-register-tile`)",
        ),
        (
            _multiplies,
            "let a load serve more multiply-adds: a larger `register-tile`",
        ),
        (_always, "exchange less between threads: fewer threads for each row"),
    ),
    Wait.BARRIER: (
        (
            lambda kernel: kernel.occupancy.blocks < 2,
            "no other block runs meanwhile: make blocks smaller, or use less of {limit}",
        ),
        (_always, "put more work between barriers, or let fewer warps wait: smaller blocks"),
    ),
    Wait.PIPE: (
        (
            _is_busy("tensor cores"),
            "tensor cores are busy, so only cheaper products help: a lower `--matmul-precision`, "
            "or half types",
        ),
        (
            _is_busy("float32"),
            "float32 units are busy, so only tensor cores help: a lower `--matmul-precision`, or "
            "half types",
        ),
        (
            _is_busy("special functions"),
            "units for special functions are busy: compute fewer of them, such as exponentials",
        ),
        _IDLE,
        _FEW_WARPS,
        (_always, "give each thread more independent work, such as a larger `register-tile`"),
    ),
    Wait.ISSUE: (
        (
            _is_busy("issue"),
            "schedulers are busy: use fewer instructions by wider accesses, or a larger "
            "`register-tile`",
        ),
        _IDLE,
        _FEW_WARPS,
        (_always, "results of fixed latency are late: give each thread more independent work"),
    ),
}
"""Conditions and advices for each reason; `_always` is last."""
