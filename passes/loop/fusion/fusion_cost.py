# SPDX-License-Identifier: Apache-2.0
"""
The cost model of fusion: the time of separate kernels against the time of the fused kernels.

The time of a launch on a target is estimated as

    max(bytes / bandwidth, instructions / rate) / share + LAUNCH_SECONDS

* `bytes` is the unavoidable traffic: each element that the kernel reads or writes moves once. The
  model ignores repeated reads, which are served by caches and shared memory.
* `instructions` counts every scalar op as often as it runs. In a reduction, an op that does not
  vary with some free axes is computed once for `REUSE` of their steps: a block computes an operand
  of a matrix product once for its whole tile. Outside of reductions nothing is reused.
* `rate` is half of the target's flops, because a fused multiply-add counts as two.
* `share` is the part of the GPU that has work: each step of the outermost nest gets at most one SM.
  A row that one block processes therefore takes the time of one SM.

Tensor cores do the multiply-adds of a contraction of half types, `products` in number, and casts of
its factors are free (`op_counts`). The time of its launch is estimated as

    (max(bytes / bandwidth, products / matrix_rate) + instructions / rate) / share + LAUNCH_SECONDS

`instructions` counts the other ops. Copies run ahead while a block multiplies, but not while it
computes factors or the elements that it stores.

The model serves to choose between two forms, not to predict times. It ignores latency, for which
`MOST_INSTRUCTIONS` is a substitute.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.target import LAUNCH_SECONDS, Target
from tilewright.passes.facts.footprint import bytes_of, element_bytes, elements_touched
from tilewright.passes.facts.nest import nest_block, steps_of
from tilewright.passes.loop.fusion.op_counts import MatrixOps, counted, matrix_ops, runs

MOST_INSTRUCTIONS = 512
"""Most instructions of one element that are inlined; with more, their latency dominates."""

MOST_ACCUMULATORS = 3
"""
Most values that one reduction joins. A thread that owns 8 by 8 elements of a matrix has 64
accumulators for each value. It has 255 registers (CUDA C++ Programming Guide, technical
specifications).
"""

NEAR = 1.02
"""
Ratio of two times that the model cannot distinguish if tensor cores multiply. The fused form, which
has less traffic, is chosen then.
"""

MOST_OUTPUTS = 4
"""Most outputs of a kernel; each output has its own loads in flight."""


@dataclass(frozen=True)
class Work:
    """Work of one launch."""

    reads: Mapping[SSAValue, float]
    """Bytes read of each buffer."""
    writes: Mapping[SSAValue, float]
    """Bytes written to each buffer."""
    instructions: float
    steps: int
    """Steps of the outermost nest, which are distributed over SMs."""
    launches: int = 1
    products: float = 0.0
    """Multiply-adds that tensor cores do, which `instructions` leaves out."""

    @property
    def bytes(self) -> float:
        """Bytes read and written in all."""
        return sum(self.reads.values()) + sum(self.writes.values())

    def seconds(self, target: Target) -> float:
        """Return the estimated seconds on a target, by the formula in the module's docstring."""
        share = min(max(self.steps, 1) / target.sms, 1.0)
        moving = self.bytes / target.bandwidth
        computing = self.instructions / (target.flops / 2)
        busy = max(moving, computing)
        if self.products:
            multiplying = self.products / (target.mma_flops / 2)
            busy = max(moving, multiplying) + computing
        return busy / share + self.launches * LAUNCH_SECONDS


class Decision(NamedTuple):
    """A decision whether to fuse, with its reason."""

    pays: bool
    reason: str
    ratio: float = inf
    """
    Time of the fused kernels divided by that of separate kernels; infinite if times were not
    compared.
    """


def decide(
    what: str,
    apart: Sequence[Work],
    fused: Sequence[Work],
    target: Target,
    *,
    margin: float = 1.0,
) -> Decision:
    """
    Return a decision: to fuse if `fused` takes at most `margin` times as long as `apart`. The
    reason begins with `what`, which describes the extra work of fusion.
    """
    seconds = [sum(work.seconds(target) for work in form) for form in (fused, apart)]
    saved = sum(work.bytes for work in apart) - sum(work.bytes for work in fused)
    bytes = f"saves {size(saved)}" if saved >= 0 else f"moves {size(-saved)} more"
    times = f"{1e6 * seconds[0]:.2f} us against {1e6 * seconds[1]:.2f} us apart"
    pays = seconds[0] <= margin * seconds[1]
    return Decision(pays, f"{what}: {times}, {bytes}", seconds[0] / seconds[1])


def surely_pays(steps: int, reader_steps: int, target: Target) -> bool:
    """
    True if the model certainly decides for fusion of work that is done once. The fused kernel has
    `steps` steps where its reader had `reader_steps`; no byte or instruction is added and a launch
    is saved.
    """
    return min(steps, target.sms) >= min(reader_steps, target.sms)


def often(times: float) -> str:
    """Return a factor as text: `2x`, `1.5x`."""
    return f"{times:.1f}".removesuffix(".0") + "x"


def size(bytes: float) -> str:
    """Return a number of bytes as text with a decimal unit: `1.5 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes >= factor:
            return f"{bytes / factor:.1f} {unit}"
    return f"{bytes:.0f} B"


def work_of(kernel: loop.KernelOp, launch: loop.LaunchOp, rows: Collection[SSAValue] = ()) -> Work:
    """
    Return the work of `launch`, which runs `kernel`. If `rows` are given, each step of these axes
    is assumed to be one block.
    """
    arguments: list[SSAValue] = [*kernel.body.block.args]
    buffers = dict(zip(arguments, launch.operands, strict=True))
    reads, writes = defaultdict[SSAValue, float](float), defaultdict[SSAValue, float](float)
    seen = set[tuple[object, ...]]()
    times = runs(kernel, rows)
    for op in times:
        if not isinstance(op, loop.LoadOp | loop.StoreOp):
            continue
        moved = reads if isinstance(op, loop.LoadOp) else writes
        if (access := (op.memref, op.map, *op.indices)) not in seen:
            seen.add(access)
            moved[buffers[op.memref]] += elements_touched(op) * element_bytes(op.memref)
    steps = steps_of(rows or nest_block(kernel).args)
    count = counted(times, times, MatrixOps() if rows else matrix_ops(kernel))
    return Work(
        _at_most_all(reads),
        _at_most_all(writes),
        count.instructions,
        steps,
        products=count.products,
    )


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
    Return the work of `reader` if it computes each element of `buffer` itself, `times` times,
    instead of reading it. It also does the other writes of `producer`, and writes `buffer` if that
    is `kept`.
    """
    part = reader.reads.get(buffer, 0.0) / max(bytes_of(buffer), 1)  # 0 if never loaded
    if kept:
        part = 1.0
    reads = {read: bytes for read, bytes in reader.reads.items() if read is not buffer}
    for read, bytes in producer.reads.items():
        reads[read] = max(reads.get(read, 0.0), bytes * part)
    more = {write: n for write, n in producer.writes.items() if kept or write is not buffer}
    writes = {**reader.writes, **more}
    return Work(
        reads,
        writes,
        reader.instructions + producer.instructions * times,
        reader.steps if steps is None else steps,
        products=reader.products + producer.products * times,
    )


def merged(base: Work, other: Work, *, times: float = 1.0) -> Work:
    """
    Return the work of `base` plus `times` times that of `other`; buffers that both read are read
    once.
    """
    reads = {**base.reads}
    for read, bytes in other.reads.items():
        reads[read] = max(reads.get(read, 0.0), bytes)
    return Work(
        reads,
        {**base.writes, **other.writes},
        base.instructions + other.instructions * times,
        max(base.steps, other.steps),
        products=base.products + other.products * times,
    )
