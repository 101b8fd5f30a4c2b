# SPDX-License-Identifier: Apache-2.0
"""JSON form of a static report: plain dicts, lists, numbers and strings."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.evidence import KernelEvidence
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.static_report import StaticReport

SCHEMA = 1
"""Version of the JSON's schema."""


def as_json(report: StaticReport) -> dict[str, Any]:
    """
    Return the report as data for `json.dumps`. Times are in seconds, sizes in bytes; unknown values
    are null.
    """
    return {
        "schema": SCHEMA,
        "target": report.target.name,
        "notes": list(report.notes),
        "kernels": [_kernel(kernel) for kernel in report.kernels],
    }


def _kernel(kernel: KernelEvidence) -> dict[str, Any]:
    launch, occupancy, loop = kernel.launch, kernel.occupancy, kernel.loop
    return {
        "name": launch.kernel,
        "grid": launch.grid,
        "block": launch.block,
        "launches": kernel.launches,
        "schedule": launch.schedule,
        "resources": asdict(kernel.resources),
        "shared_bytes": kernel.shared_bytes,
        "occupancy": {
            "blocks": occupancy.blocks,
            "warps": occupancy.warps,
            "max_warps": occupancy.max_warps,
            "limiters": list(occupancy.limiters),
        },
        "language": kernel.language,
        "code": _mix(kernel.mix),
        "main_loop": None if loop is None else {"line": loop.line, **_mix(loop.mix)},
        "traffic": _traffic(kernel),
        "roofline_seconds": kernel.roofline_seconds,
        "estimate": _estimate(kernel),
        "clock": _clock(kernel),
        "proofs": None if kernel.proofs is None else dict(kernel.proofs.certificate),
    }


def _mix(mix: InstructionMix) -> dict[str, Any]:
    return {
        "instructions": mix.total,
        "counts": {str(category): count for category, count in mix.counts.items()},
        "accesses": {f"{category}.{bits}": n for (category, bits), n in mix.accesses.items()},
    }


def _traffic(kernel: KernelEvidence) -> dict[str, Any]:
    traffic = kernel.traffic
    return {
        **asdict(traffic),
        "sector_factor": traffic.sector_factor,
        "bank_factor": traffic.bank_factor,
    }


def _estimate(kernel: KernelEvidence) -> dict[str, Any] | None:
    if kernel.estimate is None:
        return None
    found = kernel.estimate
    return {"seconds": found.seconds, "bound": found.bound, "parts": dict(found.parts)}


def _clock(kernel: KernelEvidence) -> dict[str, Any] | None:
    found = kernel.clock
    if found is None:
        return None
    return {
        "seconds": found.seconds,
        "waits": _shares(found.shares),
        "lines": [{"line": line.line, "waits": _shares(line.shares)} for line in found.lines],
    }


def _shares(shares: Mapping[Wait, float]) -> dict[str, float]:
    return {str(wait): share for wait, share in shares.items()}
