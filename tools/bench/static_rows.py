# SPDX-License-Identifier: Apache-2.0
"""Rows of `bench --static`: the figures of each kernel of a case."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.shortcomings import Tile, shortcomings, wide_share
from tilewright.codegen.timing.roofline import Peaks
from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.frontend.capture import Captured, capture
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.driver.pipeline_string import parameters_by_pass
from tilewright.passes.tile.planner.plan_schedules import launched, reason_against, weighed
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.bench.suite import Case
from tilewright.tools.bench.work import work_of
from tilewright.tools.input.source import set_precision
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules


@dataclass(frozen=True)
class Row:
    """Figures of one kernel in one case."""

    case: str
    kernel: str
    launches: int
    """Number of launches of the kernel in the case."""
    grid: int
    block: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    warps: int
    """Number of warps that are resident on an SM."""
    ffma_share: float | None
    """Share of FFMA in the main loop's instructions."""
    wide_share: float | None
    """Share of the global memory traffic, in bytes, that moves 16 or more bytes per access."""
    bank_factor: float | None
    sector_factor: float | None
    minimum_bytes: int
    planner_us: float | None
    """
    Time of a launch by the planner's model, without launching; None if the planner had no choice,
    or the schedule comes from a database.
    """
    estimate_us: float | None
    """Estimated time of a launch."""
    clock_us: float | None
    """Time of a launch by the clock; None without nvdisasm, or if it was not asked for."""
    clock_cpu_s: float | None
    """CPU seconds that the clock took."""
    floor_us: float | None
    """Lower bound of the time for this kernel's work, without the launch."""
    case_floor_us: float
    """
    Lower bound of the time of the whole case: for suites on an H100 SXM, for blocks on the target.
    """
    schedule: str
    shortcomings: tuple[str, ...]


def rows_of(
    case: AnyCase, target: str, db: Db, precision: str | None = None, *, by_clock: bool = True
) -> Iterator[Row]:
    """
    Yield a row for each kernel of the case, with the schedules in the database `db`, in a precision
    of float32 products. `by_clock` simulates each kernel, which takes up to 2 s of CPU.
    """
    program = case.program(fake=True)
    captured = capture(program.module, program.args, program.kwargs)
    set_precision(captured.module, precision)
    scheduled = with_known_schedules(captured.module, target, db)
    floor = _floor_us(case, captured, target_named(target))
    nests = lower(scheduled, Level.LOOP, target=target)
    planned = _planner_us(nests, target_named(target))
    for kernel in report_of(nests, target_named(target)).kernels:
        yield _row(case, kernel, floor, planned.get(kernel.name), by_clock)


def _planner_us(nests: ModuleOp, target: Target) -> dict[str, float]:
    """Return the microseconds of the planner's choice for each kernel that it has choices for."""
    found: dict[str, float] = {}
    for op in nests.ops:
        if not isinstance(op, loop.KernelOp) or reason_against(op) is not None:
            continue
        choices = weighed(launched(op, op.planned)[1], target, op.planned)
        if choices is not None and not choices.replaced:
            found[op.sym_name.data] = 1e6 * choices.seconds(choices.best)
    return found


def _floor_us(case: AnyCase, captured: Captured, target: Target) -> float:
    if isinstance(case, Case):
        return case.floor_us
    return Peaks(target.flops, target.bandwidth, target.tensor_flops).floor_us(work_of(captured))


def _row(
    case: AnyCase,
    kernel: KernelEvidence,
    case_floor_us: float,
    planner_us: float | None,
    by_clock: bool,
) -> Row:
    launch, resources = kernel.launch, kernel.resources
    clock_us, clock_cpu_s = _clock(kernel) if by_clock else (None, None)
    return Row(
        case.name,
        kernel.name,
        kernel.launches,
        launch.grid,
        launch.block,
        resources.registers,
        resources.spill_store_bytes,
        kernel.shared_bytes,
        kernel.occupancy.warps,
        None if kernel.loop is None else kernel.loop.mix.share(Category.FFMA),
        wide_share(kernel),
        kernel.traffic.bank_factor,
        kernel.traffic.sector_factor,
        kernel.traffic.minimum_bytes,
        planner_us,
        None if kernel.estimate is None else 1e6 * kernel.estimate.seconds,
        clock_us,
        clock_cpu_s,
        None if kernel.roofline_seconds is None else 1e6 * kernel.roofline_seconds,
        case_floor_us,
        launch.schedule,
        tuple(shortcomings(kernel, _tile(launch.schedule))),
    )


def _clock(kernel: KernelEvidence) -> tuple[float, float] | tuple[None, None]:
    """Return the microseconds of a launch by the clock, and the CPU seconds that it took."""
    begin = process_time()
    found = kernel.clock
    if found is None:
        return None, None
    return 1e6 * found.seconds, round(process_time() - begin, 3)


def _tile(schedule: str) -> Tile | None:
    """
    Return the tile that each block of a contraction computes, by the schedule; None for other
    kernels.
    """
    options = parameters_by_pass(schedule)
    match options.get("blockify-launch"):
        case {"m": (int(m),), "n": (int(n),)}:
            return Tile(m, n, "computed" in options.get("stage-inputs", {}))
        case _:
            return None
