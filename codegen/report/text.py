# SPDX-License-Identifier: Apache-2.0
"""
Text form of the report on one kernel.

    rms_norm<<<32, 256>>>
      registers      32 of 255, no spills, no stack
      occupancy      64 of 64 warps an SM, 8 blocks, limited by registers and warps
"""

from collections.abc import Iterable, Iterator

from tilewright.codegen.report.clock.timeline import LineWaits, Timeline
from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.evidence import KernelEvidence, Proofs
from tilewright.codegen.report.instruction import ACCESSES, Category
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.resources import Resources
from tilewright.passes.cost.ledger import bytes_text

_LETTERS = {
    Wait.MEMORY: "m",
    Wait.SHARED: "s",
    Wait.BARRIER: "b",
    Wait.PIPE: "p",
    Wait.ISSUE: "i",
}
"""Letters of the bars of the clock."""

_BAR, _LINES = 50, 3
"""Letters for all of the warps' time, and the number of source lines with a bar."""

_UNITS = (Category.HMMA, Category.MATRIX, Category.TMA, Category.ATOMIC)
"""Categories that the line `code` lists before the accesses."""


def kernel_text(kernel: KernelEvidence) -> str:
    """Return the text of the report on a kernel, without a final newline."""
    launch = kernel.launch
    times = f", launched {kernel.launches} times" if kernel.launches > 1 else ""
    head = f"{launch.kernel}<<<{launch.grid}, {launch.block}>>>{times}"
    return "\n".join([head, *(f"  {name:<14} {text}" for name, text in _lines(kernel))])


def _lines(kernel: KernelEvidence) -> Iterator[tuple[str, str]]:
    launch, used = kernel.launch, kernel.resources
    yield "registers", f"{used.registers} of {used.register_limit}, {_local_memory(used)}"
    yield "shared memory", f"{_shared(kernel)}{_conflicts(kernel)}"
    yield "occupancy", _occupancy(kernel)
    yield "blocks", f"{launch.grid}, {launch.grid / kernel.target.sms:.2f} an SM"
    yield "code", f"{kernel.mix.total} {kernel.language} instructions: {_units(kernel.mix)}"
    if kernel.loop is not None:
        line = f"line {kernel.loop.line}, " if kernel.loop.line else ""
        yield "main loop", f"{line}{kernel.loop.mix.total} instructions: {_mix(kernel.loop.mix)}"
        yield "", _accesses(kernel.loop.mix)
    yield "device memory", _device_memory(kernel)
    if kernel.roofline_seconds is not None:
        yield "roofline", f"{_microseconds(kernel.roofline_seconds)} us"
    if kernel.estimate is not None:
        parts = (f"{part} {_microseconds(s)}" for part, s in kernel.estimate.parts.items() if s)
        yield "estimate", f"{_microseconds(kernel.estimate.seconds)} us: {', '.join(parts)}"
        yield "bound by", kernel.estimate.bound
    if kernel.clock is not None:
        yield "clock", _clock(kernel.clock)
        for line in kernel.clock.lines[:_LINES]:
            yield "", _line_of_clock(line)
    if kernel.proofs is not None:
        yield "proofs", _proofs(kernel.proofs)
    if launch.schedule:
        yield "schedule", launch.schedule


def _proofs(proofs: Proofs) -> str:
    """Return the number of obligations that are proved, and of all others by their outcome."""
    others = {name: count for name, count in proofs.outcomes.items() if name != "proved"}
    others |= {f"{name} not covered": count for name, count in proofs.not_covered.items()}
    failed = "".join(f", {count} {name}" for name, count in others.items() if count)
    return f"{proofs.outcomes['proved']} of {proofs.obligations} obligations proved{failed}"


def _clock(clock: Timeline) -> str:
    """Return the time by the clock, and the shares of the warps' time by reason."""
    waits = ", ".join(f"{wait} {100 * share:.0f} %" for wait, share in clock.shares.items())
    return f"{_microseconds(clock.seconds)} us (estimate), warps wait for: {waits or 'nothing'}"


def _line_of_clock(line: LineWaits) -> str:
    """Return the waits at a source line as a stacked bar, with a letter for each reason."""
    bar = "".join(_LETTERS[wait] * round(_BAR * share) for wait, share in line.shares.items())
    place = f"line {line.line}" if line.line else "no line"
    return f"{place:<9} {100 * line.share:3.0f} % {bar}".rstrip()


def _local_memory(resources: Resources) -> str:
    if resources.spills:
        stores, loads = resources.spill_store_bytes, resources.spill_load_bytes
        return f"spills: {stores} B stored, {loads} B loaded"
    stack = f"{resources.stack_bytes} B of" if resources.stack_bytes else "no"
    return f"no spills, {stack} stack"


def _shared(kernel: KernelEvidence) -> str:
    dynamic = kernel.shared_bytes - kernel.resources.static_shared_bytes
    kind = f", {bytes_text(dynamic)} of it dynamic" if dynamic else ""
    return f"{bytes_text(kernel.shared_bytes)} a block{kind}"


def _occupancy(kernel: KernelEvidence) -> str:
    found, limiters = kernel.occupancy, " and ".join(kernel.occupancy.limiters)
    if not found.blocks:
        return f"none: a block takes more {limiters} than an SM has"
    blocks = f"{found.blocks} block{'s' if found.blocks > 1 else ''}"
    return f"{found.warps} of {found.max_warps} warps an SM, {blocks}, limited by {limiters}"


def _conflicts(kernel: KernelEvidence) -> str:
    factor = kernel.traffic.bank_factor
    return "" if factor is None else f", bank factor {factor:.2f} ({kernel.traffic.source})"


def _device_memory(kernel: KernelEvidence) -> str:
    traffic = kernel.traffic
    text = f"{bytes_text(traffic.minimum_bytes)} at least"
    if traffic.sector_bytes is None or traffic.reread_factor is None:
        return text
    text += f", {bytes_text(traffic.sector_bytes)} asked for ({traffic.reread_factor:.2f} times)"
    if traffic.sector_factor is not None:
        text += f", sector factor {traffic.sector_factor:.2f} ({traffic.source})"
    return text


def _mix(mix: InstructionMix) -> str:
    return _listed(
        f"{count} {category} ({100 * mix.share(category):.0f} %)"
        if category in (Category.FFMA, Category.HMMA, Category.MATRIX)
        else f"{count} {category}"
        for category, count in mix.counts.items()
        if category not in ACCESSES
    )


def _accesses(mix: InstructionMix) -> str:
    """Return the number of accesses by category and width, as `4 LDG.128`."""
    return _listed(_each_access(mix))


def _units(mix: InstructionMix) -> str:
    """Return the number of instructions in `_UNITS` by category, and `_accesses`."""
    units = (f"{mix.count(kind)} {kind}" for kind in _UNITS if mix.count(kind))
    return _listed([*units, *_each_access(mix)])


def _each_access(mix: InstructionMix) -> Iterator[str]:
    return (f"{n} {category}.{bits}" for (category, bits), n in mix.accesses.items())


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts) or "no accesses"


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.3g}"
