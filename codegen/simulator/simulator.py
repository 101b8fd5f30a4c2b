# SPDX-License-Identifier: Apache-2.0
"""Launch of a kernel: runs its PTX on NumPy arrays, batch of blocks by batch of blocks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.codegen.simulator.arguments import Argument, Arguments
from tilewright.codegen.simulator.assemble import assemble
from tilewright.codegen.simulator.control import compile_kernel
from tilewright.codegen.simulator.counters import Counters
from tilewright.codegen.simulator.findings import (
    Finding,
    Kind,
    SimulationTooLarge,
    SimulatorError,
)
from tilewright.codegen.simulator.geometry import LANES_AT_ONCE, Dim3, Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.machine import Machine, OutOfBudget
from tilewright.codegen.simulator.ptx import parse
from tilewright.codegen.simulator.tensor_map import TensorMap
from tilewright.codegen.simulator.turns import MOST_AGAIN, Snapshot, depends_on_turns, orders
from tilewright.matrix_sums import MatrixSums

Shape = int | tuple[int, ...]

NO_LIMIT = 1 << 62
_FIRST_TO_AVERAGE = 4
"""
Multiple of the budget above which a launch is refused before it starts.

The estimate extrapolates from the first block, which may do more work than the average block.
"""
_MOST_STATIC = 48 * 1024
_MOST_SHARED = 227 * 1024
"""
Bytes of shared memory that a block may have on any known GPU (CUDA C++ Programming Guide, technical
specifications).
"""


@dataclass(frozen=True)
class Report:
    """
    Result of a launch: its findings, its cost counters, and the amount of work.

    `instructions` counts thread-instructions. `counters` is empty when checks are off. `blocks` is
    the number of blocks that ran: all of them, or a sample.
    """

    errors: list[Finding]
    instructions: int
    counters: Counters
    blocks: int

    @property
    def ok(self) -> bool:
        return not self.errors

    def with_errors(self, errors: list[Finding]) -> "Report":
        """Return this report, with the findings of another run if it has none of its own."""
        return replace(self, errors=self.errors or errors)


def simulate(
    ptx: str,
    kernel: str,
    *,
    grid: Shape,
    block: Shape,
    shared_bytes: int = 0,
    arguments: Sequence[Argument],
    checks: bool = True,
    read_only: Collection[int] = (),
    budget: int | None = None,
    notes: Mapping[int, str] | None = None,
    blocks: int | None = None,
    matrix_sums: MatrixSums = MatrixSums.ROUNDED_ONCE,
) -> Report:
    """
    Run `kernel<<<grid, block, shared_bytes>>>(*arguments)` and return its report.

    Arrays are passed by pointer and written in place; numbers are passed by value. `read_only`
    holds the positions of arguments that the kernel must not write. An array passed twice is one
    memory. `checks=False` is faster. It reports only errors that would otherwise crash the run:
    bounds, alignment, barriers and masks.

    A thread that spins until another thread acts lets all other threads run first. A kernel whose
    outcome may depend on the order of threads is run in other orders too, if the first run finds
    nothing (`turns.py`). `notes` maps lines of the CUDA text to their origin, which findings
    repeat. `blocks` limits the run to about that many blocks, spread evenly over the grid, in whole
    clusters. `matrix_sums` is the model of the sums in `mma`.

    Raises `SimulationTooLarge` when the launch needs more than `budget` thread-instructions. This
    happens before the launch starts if its first block shows it. Otherwise it happens during the
    run, and arrays may be half written.

    Raises `SimulatorError` for PTX that the simulator does not know, and for arguments that do not
    fit the kernel.
    """
    what = ptx, kernel, grid, block, shared_bytes, arguments, matrix_sums
    launch = _Launch(*what, checks, read_only, sample=blocks)
    launch.notes = notes or {}
    if budget is not None and launch.has_batches:
        _check_first(_Launch(*what, False, (), lanes_at_once=1, sample=blocks), budget)
    limit = NO_LIMIT if budget is None else budget
    if not checks or blocks is not None or not depends_on_turns(launch.unit.kernel):
        return launch.run(limit)
    memory = Snapshot(arguments)
    report = launch.run(limit)
    after = Snapshot(arguments)
    for turns in orders(launch.unit.geometry, report.instructions) if report.ok else ():
        memory.restore()
        again = _Launch(*what, checks, read_only, counts=False)
        again.notes, again.machine.turns = launch.notes, turns
        report = report.with_errors(again.errors(MOST_AGAIN * report.instructions))
    after.restore()
    return report


def _dim3(shape: Shape, what: str) -> Dim3:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise SimulatorError(f"a {what} has one to three positive sizes, not {shape}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _check_first(alone: "_Launch", budget: int) -> None:
    """
    Raise `SimulationTooLarge` if the first block, run alone and without stores, shows that the
    launch exceeds its budget.
    """
    alone.unit.global_memory.dry = True
    try:
        alone.run(_FIRST_TO_AVERAGE * budget, blocks=1)
    except SimulationTooLarge as err:
        raise SimulationTooLarge(alone.unit.kernel.name, budget, err.needed) from None


class _Launch:
    """One launch: memory that is laid out, and the kernel compiled against it."""

    notes: Mapping[int, str] = {}

    def __init__(
        self,
        ptx: str,
        name: str,
        grid: Shape,
        block: Shape,
        shared_bytes: int,
        arguments: Sequence[Argument],
        matrix_sums: MatrixSums,
        checks: bool,
        read_only: Collection[int],
        lanes_at_once: int = LANES_AT_ONCE,
        sample: int | None = None,
        counts: bool = True,
    ):
        kernel = parse(ptx, name)
        shape = _dim3(grid, "grid"), _dim3(block, "block")
        geometry = Geometry(*shape, lanes_at_once, cluster=kernel.cluster, sample=sample)
        _check_block(kernel, geometry)
        _check_shared(kernel, shared_bytes)
        self.unit = assemble(kernel, geometry, shared_bytes, checks, checks and counts, matrix_sums)
        self._bind(arguments, read_only)
        self.machine: Machine = compile_kernel(self.unit)

    @property
    def has_batches(self) -> bool:
        """True if the chosen blocks do not fit one batch."""
        return len(self.unit.geometry.chosen) > self.unit.geometry.blocks

    def _bind(self, arguments: Sequence[Argument], read_only: Collection[int]) -> None:
        parameters = self.unit.kernel.parameters
        if len(arguments) != len(parameters):
            raise SimulatorError(
                f"{self.unit.kernel.name} has {len(parameters)} parameters, "
                f"but got {len(arguments)} arguments"
            )
        bound = Arguments(self.unit.global_memory, read_only)
        for number, parameter in enumerate(parameters):
            data = bound.bytes_of(parameter, number, arguments)
            self.unit.parameters[parameter.name] = data
            if isinstance(map := arguments[number], TensorMap):
                where = self.unit.registers.addresses[parameter.name]
                self.unit.tensor_maps[where] = map, bound.array_of(number, arguments)

    def run(self, budget: int, blocks: int | None = None) -> Report:
        """
        Run the first `blocks` of the chosen blocks, by default all of them, and return the report.
        Raises `SimulationTooLarge`.
        """
        unit, machine = self.unit, self.machine
        geometry = unit.geometry
        chosen = len(geometry.chosen)
        for first in range(0, blocks or chosen, geometry.blocks):
            self._start_batch(first)
            try:
                machine.run(budget)
            except OutOfBudget:
                # Blocks of a batch run side by side: the progress of a single block is unknown.
                raise SimulationTooLarge(unit.kernel.name, budget, None) from None
            self._end_batch()
            done = min(first + geometry.blocks, chosen)
            if machine.executed / done * chosen > budget:
                needed = machine.executed * chosen // done
                raise SimulationTooLarge(unit.kernel.name, budget, needed)
        return Report(
            unit.findings.sorted(self.notes),
            machine.executed,
            unit.meters.counters(unit.global_memory.minimum_bytes()),
            chosen,
        )

    def errors(self, budget: int) -> list[Finding]:
        """
        Run all blocks and return the findings. If the run exceeds the budget, return the findings
        so far.
        """
        try:
            return self.run(budget).errors
        except SimulationTooLarge:
            return self.unit.findings.sorted(self.notes)

    def _start_batch(self, first: int) -> None:
        unit = self.unit
        unit.geometry.first_block = first
        if first:
            unit.registers.set_special(unit.geometry.special_registers())
        unit.order.reset()
        unit.shared.reset()
        if unit.local is not None:
            unit.local.reset()
        unit.mbarriers.reset()
        unit.atomics.reset()
        unit.copies.reset()
        unit.warpgroups.reset()

    def _end_batch(self) -> None:
        """
        Report copies without a wait, and visits to blocks that may have exited, after all threads
        have ended.
        """
        unit = self.unit
        unit.shared.visitors.check()
        for copy, block in unit.mbarriers.left():
            name = unit.geometry.block_name(block + unit.geometry.first_block)
            unit.findings.add(
                Kind.UNAWAITED,
                copy.line,
                f"block {name} ends with a bulk copy that no thread has waited for",
            )


def _check_shared(kernel: Kernel, dynamic: int) -> None:
    """
    Raise `SimulatorError` if a launch needs more shared memory than a GPU has; `ptxas` may accept
    more.
    """
    static = sum(v.size for v in kernel.variables.values() if v.space == "shared")
    for bytes, most, what in (
        (static, _MOST_STATIC, "bytes in static shared arrays"),
        (static + dynamic, _MOST_SHARED, "bytes of shared memory"),
    ):
        if bytes > most:
            raise SimulatorError(f"{kernel.name} has {bytes} {what}, more than {most}")


def _check_block(kernel: Kernel, geometry: Geometry) -> None:
    for size, by in zip(geometry.grid, geometry.cluster, strict=True):
        if size % by:
            raise SimulatorError(
                f"{kernel.name} is launched with a grid of {geometry.grid}, which does not divide "
                f"into clusters of {geometry.cluster}"
            )
    most = min(kernel.max_threads or 1024, 1024)
    if geometry.threads > most:
        raise SimulatorError(
            f"{kernel.name} is launched with {geometry.threads} threads per block, "
            f"at most {most} can run"
        )
