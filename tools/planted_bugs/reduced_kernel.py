# SPDX-License-Identifier: Apache-2.0
"""
Loop IR kernels at sizes that the simulator can handle, for schedules that the planner made for full
sizes. The reduced kernel computes another function of the same structure.

A free axis exceeds a whole tile by a part of one. A sum has a chunk for every split, one more than
a ring holds, and a part of a chunk. Rows of a reduction that several threads of a block share keep
their length.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i64,
)
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.types import memref_type
from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.driver.pipeline_string import parameters_by_pass
from tilewright.tools.planted_bugs.axis_classes import AxisClasses

STEPS, MOST_STEPS = 3_000_000, 15_000_000
"""Preferred and largest number of steps of a kernel's loops: about 0.5 and 3 seconds."""

MATRIX_STEPS = 4
"""
Factor of the largest number of steps for kernels with matrix instructions, each of which does many
steps.
"""

OVERRUN = 8
"""Number of elements beyond the last whole tile; with it rows stay multiples of 16 bytes."""

FEW = 2
"""New number of steps of an axis that no tile covers, such as heads."""

INDICES = 40
"""New number of rows of a table that indices select from, such as embeddings."""

_LINE = 128 + OVERRUN
"""New number of elements of a row in kernels without sums."""


@dataclass(frozen=True)
class Tiling:
    """Sizes that a schedule names: sides of tiles, chunk of a split sum, steps of a ring."""

    sides: tuple[int, int]
    """
    Sides of a block's tile of a contraction. For other kernels: elements of a block, or rows of a
    reduction.
    """
    chunk: int
    """Elements that all blocks of a split sum process in a step; 0 if sums are not chunked."""
    steps: int
    """Number of steps that a ring is filled ahead, plus one."""

    @staticmethod
    def of(schedule: str) -> "Tiling":
        """Return the sizes that a schedule names in the options of its passes."""
        options = parameters_by_pass(schedule)

        def number(name: str, option: str, default: int = 0) -> int:
            match options.get(name, {}).get(option):
                case (int(value),):
                    return value
                case _:
                    return default

        rows = 2 * number("cooperative-reduce", "rows", 1)
        sides = [number("blockify-launch", side) or rows for side in "mn"]
        chunk = number("chunk-matmul-k", "bk") * number("split-matmul-k", "factor", 1)
        return Tiling((sides[0], sides[1]), chunk, number("pipeline-k-outer", "lookahead") + 1)


def reduced(kernel: loop.KernelOp, schedule: str, target: str) -> ModuleOp:
    """
    Return a Loop IR program with the kernel at smaller sizes, or at its own if they are small, and
    with the schedule planned. Raises `UnsupportedError` if the schedule fits no sizes that the
    simulator can handle.
    """
    for smaller in sorted(_resizings(kernel, schedule), key=_preference):
        smaller.planned = ScheduleAttr.parse(schedule)
        module = launched(smaller)
        if _is_scheduled_by(module, schedule, target):
            return module
    raise UnsupportedError(
        f"kernel '{kernel.sym_name.data}' has no smaller sizes for its schedule",
        remedy=f"it is simulated where its loops take at most {_most_steps(schedule)} steps",
    )


def _preference(kernel: loop.KernelOp) -> int:
    """
    Return the sort key of a resized kernel: its number of steps, but at least `STEPS`, so that
    small kernels keep their order.
    """
    return max(steps_of(kernel), STEPS)


def _resizings(kernel: loop.KernelOp, schedule: str) -> Iterator[loop.KernelOp]:
    attempts = _attempts(AxisClasses(kernel), Tiling.of(schedule))
    resized = (_resized(kernel, sizes) for sizes in attempts)
    most = _most_steps(schedule)
    return (smaller for smaller in resized if steps_of(smaller) <= most)


def _most_steps(schedule: str) -> int:
    """Return the largest number of steps of a kernel's loops with which it is simulated."""
    has_matrices = "tensor-core" in parameters_by_pass(schedule)
    return MOST_STEPS * MATRIX_STEPS if has_matrices else MOST_STEPS


def _attempts(classes: AxisClasses, tiling: Tiling) -> Iterator[list[int]]:
    """
    Yield sizes of all axes, for one attempt each: at first with remainders after tiles and chunks,
    then without, at last the full sizes.
    """
    largest = max(tiling.sides)
    for sides, steps, few, rest in (
        (tiling.sides, tiling.steps + 1, FEW, OVERRUN),
        (tiling.sides, tiling.steps + 1, 1, OVERRUN),
        (tiling.sides, tiling.steps, 1, OVERRUN),
        (tiling.sides, 2, 1, OVERRUN),
        ((largest, largest), tiling.steps + 1, FEW, OVERRUN),
        ((2 * largest, 2 * largest), 2, FEW, 0),
    ):
        sum = tiling.chunk and tiling.chunk * steps + rest
        chosen = _chosen(classes, (sides[0] + rest, sides[1] + rest), sum, few)
        yield [chosen.get(classes.leader(a), size) for a, size in classes.sizes.items()]
    yield [*classes.sizes.values()]


def _chosen(
    classes: AxisClasses, sides: tuple[int, int], sum: int, few: int
) -> dict[SSAValue, int]:
    """
    Return the new size of each class of axes: `sides` for the last two loops, `sum` for sums unless
    it is 0, and `few` for other loops.
    """
    loops = [classes.leader(axis) for axis in classes.sizes if _is_free_loop(axis)]
    sums = {classes.leader(axis) for axis in classes.sizes if _is_sum(axis)}
    if not sums:
        sides = (2 * sides[1] // _LINE + 1, _LINE)
    covered = dict(zip(reversed(loops), reversed(sides), strict=False))
    chosen = dict[SSAValue, int]()
    for axis in classes.free:
        size, multiple = classes.sizes[axis], classes.multiple(axis)
        needed = covered.get(axis, few * multiple if axis in loops else INDICES)
        if axis in sums:
            needed = max(sum, covered.get(axis, 0)) if sum else size
        chosen[axis] = min(size, -(-needed // multiple) * multiple)
    return chosen


def _is_sum(axis: SSAValue) -> bool:
    return isinstance(axis, BlockArgument) and isinstance(axis.owner.parent_op(), loop.ReduceOp)


def _is_free_loop(axis: SSAValue) -> bool:
    return isinstance(axis, BlockArgument) and not _is_sum(axis)


def _resized(kernel: loop.KernelOp, sizes: Sequence[int]) -> loop.KernelOp:
    """Return the kernel with axes of these sizes, in order, and arrays that fit."""
    copy = kernel.clone()
    classes = AxisClasses(copy)
    new = dict(zip(classes.sizes, sizes, strict=True))
    types = [_resized_type(argument, classes, new) for argument in copy.body.block.args]
    for op in copy.body.walk():
        _resize_axes(op, new)
    for argument, type in zip([*copy.body.block.args], types, strict=True):
        hint = argument.name_hint
        Rewriter.replace_value_with_new_type(argument, type).name_hint = hint
    return copy


def _resized_type(
    argument: BlockArgument, classes: AxisClasses, new: Mapping[SSAValue, int]
) -> MemRefType:
    """Return the type of an array whose axes have the sizes of the loops that step through them."""
    type = memref_type(argument)
    shape = [*type.get_shape()]
    for number in range(len(shape)):
        if drivers := classes.drivers.get((argument, number)):
            shape[number] = drivers[0].length(new[drivers[0].axis])
    return MemRefType(type.element_type, shape, type.layout, type.memory_space)


def _resize_axes(op: Operation, new: Mapping[SSAValue, int]) -> None:
    match op:
        case loop.ForOp():
            sizes = [new[axis] for axis in op.body.block.args]
            op.extents = DenseArrayBase.from_list(i64, sizes)
        case loop.ReduceOp() | loop.ScanOp():
            op.extent = IntegerAttr(new[op.axis], i64)
        case loop.ToIndexOp():
            op.bound = IntegerAttr(new[op.result], i64)
        case _:
            pass


def steps_of(op: Operation) -> int:
    """Return the number of steps of the innermost loops in an operation."""
    sizes = prod(op.axis_extents()) if isinstance(op, AxesOp) else 1
    inner = sum(steps_of(o) for r in op.regions for b in r.blocks for o in b.ops if o.regions)
    return sizes * max(inner, 1)


def _is_scheduled_by(module: ModuleOp, schedule: str, target: str) -> bool:
    """True if lowering to Tile IR applies every step of `schedule` to the kernel."""
    try:
        module.verify()
        scheduled = lower(module, Level.TILE, target=target)
    except (VerifyException, TilewrightError, PassFailedException):
        return False
    kernels = (op for op in scheduled.ops if isinstance(op, loop.KernelOp))
    return all(kernel.schedule == ScheduleAttr.parse(schedule) for kernel in kernels)


def launched(kernel: loop.KernelOp) -> ModuleOp:
    """
    Return a module that launches the kernel once; buffers that it updates are arguments of `@main`.
    """
    given = [*kernel.inputs, *(value for value in kernel.outputs if kernel.is_updated(value))]
    body = Block(arg_types=[value.type for value in given])
    buffers: dict[SSAValue, SSAValue] = dict(zip(given, body.args, strict=True))
    for output in kernel.outputs:
        if output not in buffers:
            type = memref_type(output)
            alloc = memref.AllocOp.get(type.element_type, shape=type.get_shape())
            body.add_op(alloc)
            buffers[output] = alloc.memref
    for value, buffer in buffers.items():
        buffer.name_hint = value.name_hint
    inputs, outputs = ([buffers[v] for v in each] for each in (kernel.inputs, kernel.outputs))
    body.add_ops([loop.LaunchOp(kernel.sym_name.data, inputs, outputs), func.ReturnOp(*outputs)])
    signature = FunctionType.from_lists(body.arg_types, [buffer.type for buffer in outputs])
    return ModuleOp([func.FuncOp("main", signature, Region(body), "public"), kernel])
