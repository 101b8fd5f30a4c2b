# SPDX-License-Identifier: Apache-2.0
"""
What fusing is worth: the time of kernels apart against the time of the same kernels fused.

A launch is taken to need, on a target,

    max(bytes / bandwidth, instructions / rate) / share + LAUNCH_SECONDS

* `bytes` is the traffic that cannot be avoided: each element that the kernel reads or writes moves
  once, however often it is read again (that is for caches and shared memory).
* `instructions` counts every scalar op as often as it runs. In a reduction, what does not vary with
  some of the free axes is computed once for `REUSE` of their steps: a block computes an operand of
  a matrix product once for its whole tile. Outside of reductions nothing is reused.
* `rate` is half of the target's flops, of which a fused multiply-add does two.
* `share` is the part of the GPU that has work: each step of the outermost nest gets an SM at most,
  so that a row which one block walks goes at the speed of one SM.

The model is for choosing between two forms, not for foretelling times. It knows nothing of latency;
`MOST_INSTRUCTIONS` stands in for it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import LAUNCH_SECONDS, Target
from tilewright.passes.cost.instruction_costs import instructions
from tilewright.passes.facts.footprint import bytes_of, element_bytes, elements_touched
from tilewright.passes.facts.nest import nest_block, steps_of
from tilewright.passes.loop.fusion.op_runs import runs

MOST_INSTRUCTIONS = 512
"""Instructions of one element that are inlined at most: beyond, it is their latency that counts."""

MOST_ACCUMULATORS = 3
"""
Values that one reduction joins at most. A thread that owns 8 by 8 elements of a matrix has 64
accumulators for each, and 255 registers (CUDA C++ Programming Guide, technical specifications).
"""

MOST_OUTPUTS = 4
"""What a kernel writes at most: each output has its own loads in flight."""


@dataclass(frozen=True)
class Work:
    """What one launch does."""

    reads: Mapping[SSAValue, float]
    """Bytes that it reads of each buffer."""
    writes: Mapping[SSAValue, float]
    """Bytes that it writes of each buffer."""
    instructions: float
    steps: int
    """Steps of the outermost nest: what SMs can share."""
    launches: int = 1

    @property
    def bytes(self) -> float:
        """All that moves."""
        return sum(self.reads.values()) + sum(self.writes.values())

    def seconds(self, target: Target) -> float:
        """How long it takes."""
        share = min(max(self.steps, 1) / target.sms, 1.0)
        busy = max(self.bytes / target.bandwidth, self.instructions / (target.flops / 2))
        return busy / share + self.launches * LAUNCH_SECONDS


class Decision(NamedTuple):
    """Whether to fuse, and why."""

    pays: bool
    reason: str
    ratio: float = inf
    """How long fused kernels take, with 1 for kernels apart; infinite where nothing was weighed."""


def decide(
    what: str,
    apart: Sequence[Work],
    fused: Sequence[Work],
    target: Target,
    *,
    margin: float = 1.0,
) -> Decision:
    """
    Whether `fused` takes no longer than `apart`, or than `margin` times that; `what` says what
    fusing has to do for it.
    """
    seconds = [sum(work.seconds(target) for work in form) for form in (fused, apart)]
    saved = sum(work.bytes for work in apart) - sum(work.bytes for work in fused)
    bytes = f"saves {size(saved)}" if saved >= 0 else f"moves {size(-saved)} more"
    times = f"{1e6 * seconds[0]:.2f} us against {1e6 * seconds[1]:.2f} us apart"
    pays = seconds[0] <= margin * seconds[1]
    return Decision(pays, f"{what}: {times}, {bytes}", seconds[0] / seconds[1])


def surely_pays(steps: int, reader_steps: int, target: Target) -> bool:
    """
    True if the model is certain to fuse what does the same work once, in `steps` steps instead of
    `reader_steps` for the part that reads: no byte or instruction is added and a launch is saved.
    """
    return min(steps, target.sms) >= min(reader_steps, target.sms)


def often(times: float) -> str:
    """How many times as people write it: `2x`, `1.5x`."""
    return f"{times:.1f}".removesuffix(".0") + "x"


def size(bytes: float) -> str:
    """Return a number of bytes as people write it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes >= factor:
            return f"{bytes / factor:.1f} {unit}"
    return f"{bytes:.0f} B"


def work_of(kernel: loop.KernelOp, launch: loop.LaunchOp, rows: Collection[SSAValue] = ()) -> Work:
    """What `launch`, which runs `kernel`, does; with `rows`, if a block does one row of these."""
    arguments: list[SSAValue] = [*kernel.body.block.args]
    buffers = dict(zip(arguments, launch.operands, strict=True))
    reads, writes = defaultdict[SSAValue, float](float), defaultdict[SSAValue, float](float)
    seen = set[tuple[object, ...]]()
    total = 0.0
    for op, times in runs(kernel, rows).items():
        total += times * cost_of(op)
        if not isinstance(op, loop.LoadOp | loop.StoreOp):
            continue
        moved = reads if isinstance(op, loop.LoadOp) else writes
        if (access := (op.memref, op.map, *op.indices)) not in seen:
            seen.add(access)
            moved[buffers[op.memref]] += elements_touched(op) * element_bytes(op.memref)
    steps = steps_of(rows or nest_block(kernel).args)
    return Work(_at_most_all(reads), _at_most_all(writes), total, steps)


def _at_most_all(moved: Mapping[SSAValue, float]) -> Mapping[SSAValue, float]:
    return {buffer: min(bytes, bytes_of(buffer)) for buffer, bytes in moved.items()}


def fused(
    producer: Work,
    reader: Work,
    buffer: SSAValue,
    *,
    times: float = 1.0,
    steps: int | None = None,
    kept: bool = False,
) -> Work:
    """
    `reader` when it computes itself, each element `times` times, what it read of `buffer`; which it
    also writes, if that is `kept` for others, as it does what else `producer` writes.
    """
    part = reader.reads.get(buffer, 0.0) / max(bytes_of(buffer), 1)  # it may never load it
    if kept:
        part = 1.0
    reads = {read: bytes for read, bytes in reader.reads.items() if read is not buffer}
    for read, bytes in producer.reads.items():
        reads[read] = max(reads.get(read, 0.0), bytes * part)
    more = {write: n for write, n in producer.writes.items() if kept or write is not buffer}
    writes = {**reader.writes, **more}
    total = reader.instructions + producer.instructions * times
    return Work(reads, writes, total, reader.steps if steps is None else steps)


def merged(base: Work, other: Work, *, times: float = 1.0) -> Work:
    """`base` when it also does `times` times what `other` does, and reads once what both read."""
    reads = {**base.reads}
    for read, bytes in other.reads.items():
        reads[read] = max(reads.get(read, 0.0), bytes)
    total = base.instructions + other.instructions * times
    return Work(reads, {**base.writes, **other.writes}, total, max(base.steps, other.steps))


def cost_of(op: Operation) -> int:
    """Instructions of one step of `op`; of a reduction, those that join one value."""
    if isinstance(op, loop.ReduceOp):
        return 0 if is_sum_of_products(op) else instructions(op)
    return 0 if isinstance(op, _FREE) else instructions(op)


_FREE = (loop.ForOp, loop.ScanOp, loop.YieldOp)


def is_sum_of_products(op: Operation) -> bool:
    """True if `op` is a reduction that joins products: the joining is a fused multiply-add."""
    if not isinstance(op, loop.ReduceOp) or op.monoid.data is not Monoid.ADD:
        return False
    return all(isinstance(value.owner, arith.MulfOp) for value in op.yield_op.values)
