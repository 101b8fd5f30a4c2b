# SPDX-License-Identifier: Apache-2.0
"""
Makes a scan exclusive, which stores the prefix before each step, if its reader reads it one step
late.

    loop.kernel @cumsum(%x: memref<37x40xf32>) -> (%out: memref<37x40xf32>) {
      loop.for %i in 37 {
        loop.scan %k in 40 {
          %0 = loop.load %x[%i, %k] : memref<37x40xf32>
          %sum = loop.prefix %0 with add : f32
          loop.store %sum, %out[%i, %k] : memref<37x40xf32>
    ...
    loop.kernel @cat(%cumsum: memref<37x40xf32>) -> (%out: memref<37x41xf32>) {
      loop.for %i in 37, %j in 41 {
        %0 = loop.load %cumsum[%i, %j - 1] where [%j - 1] : memref<37x40xf32>

becomes

        loop.scan %k in 41 {
          %0 = loop.load %x[%i, %k] where [39 - %k] : memref<37x40xf32>
          %sum = loop.prefix %0 with add exclusive : f32
          loop.store %sum, %out[%i, %k] : memref<37x41xf32>
    ...
        %0 = loop.load %cumsum[%i, %j] : memref<37x41xf32>

The reader then reads each element once, so that `fuse-epilogue` computes it in the scan. This is
how exclusive sums are written in PyTorch: a column of zeros, and the sums behind it. Steps beyond
the first elements that are read are dropped. The last step needs no element: loads that would be
out of bounds there are masked.
"""

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import Access, extent_of
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.instruction_costs import is_computation
from tilewright.passes.facts.nest import is_in_bounds, nest_block, subscripted_dims
from tilewright.passes.loop.fusion.inverse_subscripts import shifted_index
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.launch_graph import holds_one_value, is_returned, loads_of, readers
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.loop.scalar_function import constant
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import masked_load

RULE = Rule("f", 30, "exclusive_scan")

_ONE_LATE = AffineExpr.dimension(0) - 1


class Scan(NamedTuple):
    """Scan that stores its prefix in each step, and nothing else."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    op: loop.ScanOp
    prefix: loop.PrefixOp
    dim: int
    """Dimension of the output that the steps subscript."""

    @property
    def buffer(self) -> SSAValue:
        """Buffer that the scan fills."""
        return self.launch.outputs[0]


def scan_of(launch: loop.LaunchOp, kernel: loop.KernelOp) -> Scan | None:
    """Return the scan that is all work of a kernel, or None for a kernel of another form."""
    scan = nest_block(kernel).last_op
    if not isinstance(scan, loop.ScanOp) or len(kernel.outputs) != 1 or len(scan.prefixes) != 1:
        return None
    if nest_block(kernel).first_op is not scan or kernel.is_updated(kernel.outputs[0]):
        return None
    (prefix,), store = scan.prefixes, scan.body.block.last_op
    rest = [op for op in scan.body.block.ops if op not in (prefix, store)]
    if prefix.is_exclusive or len(prefix.results) != 1 or not all(map(_may_be_in_vain, rest)):
        return None
    if not isinstance(store, loop.StoreOp) or store.mask is not None:
        return None
    if store.value is not prefix.results[0]:
        return None
    dims = subscripted_dims(store.map.data.results, store.indices)
    return Scan(launch, kernel, scan, prefix, dims[scan.axis]) if scan.axis in dims else None


def _may_be_in_vain(op: Operation) -> bool:
    """True if an op may run in a step that needs no element."""
    return isinstance(op, loop.LoadOp | loop.IndexOp | loop.PredicateOp) or is_computation(op)


def steps_read(scan: Scan, reader: FlatLaunch) -> int | None:
    """
    Return the number of elements that each row of `reader` has if it reads the scan one step late,
    and zero in its first element; else None.
    """
    loads = loads_of(reader.kernel, reader.launch, scan.buffer)
    found = {_late_axis(load, scan.dim) for load in loads}
    if len(found) != 1 or (axis := found.pop()) is None:
        return None
    steps = extent_of(axis)
    return steps if steps is not None and steps <= scan.op.axis_extents()[0] + 1 else None


def _late_axis(load: loop.LoadOp, dim: int) -> SSAValue | None:
    """Return the axis that subscripts dimension `dim` of a load less 1, if its first load is 0."""
    subscripts, where = load.map.data.results, load.where
    if where is None or (shifted := shifted_index(subscripts[dim], load.indices)) is None:
        return None
    axis, shift = shifted
    at = [*load.indices].index(axis)
    elsewhere = [expr for d, expr in enumerate(subscripts) if d != dim]
    if shift != -1 or any(at in expr.used_dims() for expr in elsewhere):
        return None
    is_zero_first = (*where[0],) == (_ONE_LATE,) and [*where[1]] == [axis]
    return axis if is_zero_first else None


@dataclass
class ExclusiveScan(RewritePattern):
    """Pattern that makes a scan exclusive, whose reader reads it one step late."""

    plan: PlanIndex

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        kernel = self.plan.kernel_of(op)
        if kernel is None or (scan := scan_of(op, kernel)) is None:
            return
        if not holds_one_value(scan.buffer):
            return
        reader = self._only_reader(scan.buffer)
        if isinstance(reader, str):
            skipped(RULE, kernel, reader)
        elif (steps := steps_read(scan, reader)) is None:
            skipped(RULE, kernel, f"{reader.kernel.sym_name.data} does not read it one step late")
        else:
            with rewriting(RULE, kernel, whole_module=True):
                _rewrite(scan, reader, steps, rewriter)

    def _only_reader(self, buffer: SSAValue) -> FlatLaunch | str:
        """Return the elementwise launch that reads `buffer`, or the reason why there is none."""
        found = readers(buffer)
        if is_returned(buffer) or len(found) != 1:
            return "its prefixes have several readers, or are a result"
        flat = self.plan.flat_launch(found[0], reduces=False)
        if flat is None or self.plan.times_launched(flat.kernel) > 1:
            return "its reader is not one elementwise kernel"
        return flat


def _rewrite(scan: Scan, reader: FlatLaunch, steps: int, rewriter: PatternRewriter) -> None:
    buffer = _allocated(scan, steps, rewriter)
    old = scan.buffer
    for load in loads_of(reader.kernel, reader.launch, old):
        _read_on_time(load, scan, rewriter)
    arguments = KernelArguments(reader.kernel, reader.launch)
    for argument, read in zip(reader.kernel.body.block.args, arguments.buffers, strict=False):
        if read is old:
            rewriter.replace_value_with_new_type(argument, buffer.type)
    arguments.buffers = [buffer if read is old else read for read in arguments.buffers]
    arguments.relaunch(rewriter)
    (before,) = scan.op.axis_extents()
    scan.op.extent = IntegerAttr(steps, i64)
    if steps > before:
        _mask_last_step(scan.op, rewriter)
    scan.prefix.exclusive = UnitAttr()
    rewriter.notify_op_modified(scan.op)
    rewriter.notify_op_modified(scan.prefix)
    arguments = KernelArguments(scan.kernel, scan.launch)
    arguments.change_output(rewriter, old, buffer)
    arguments.relaunch(rewriter)
    assert isinstance(old.owner, Operation)
    rewriter.erase(old.owner)


def _allocated(scan: Scan, steps: int, rewriter: PatternRewriter) -> SSAValue:
    """Return a new buffer like the scan's, with `steps` elements in each row."""
    type = memref_type(scan.buffer)
    shape = [steps if at == scan.dim else n for at, n in enumerate(type.get_shape())]
    alloc = memref.AllocOp([], [], MemRefType(type.element_type, shape))
    alloc.memref.name_hint = scan.buffer.name_hint
    rewriter.insert(alloc, InsertPoint.before(scan.launch))
    return alloc.memref


def _read_on_time(load: loop.LoadOp, scan: Scan, rewriter: PatternRewriter) -> None:
    """Replace a late load by one of the same step; the first step is still zero."""
    subscripts = [*load.map.data.results]
    subscripts[scan.dim] = subscripts[scan.dim] + 1
    new = loop.LoadOp(load.memref, (subscripts, load.indices))
    new.location, new.result.name_hint = load.location, load.result.name_hint
    (identity,) = scan.prefix.monoid.identities([load.result.type])
    ops: list[Operation] = [new]
    if identity.value.data:
        assert load.where is not None
        is_later = loop.PredicateOp(load.where)
        zero = constant(0, load.result.type)
        ops += [is_later, zero, arith.SelectOp(is_later.result, new.result, zero.result)]
    rewriter.replace(load, ops, [ops[-1].results[0]])


def _mask_last_step(scan: loop.ScanOp, rewriter: PatternRewriter) -> None:
    """Mask the loads of a scan that would be out of bounds in its last step, which is new."""
    (steps,) = scan.axis_extents()
    needed: Access = [AffineExpr.dimension(0) * -1 + (steps - 2)], [scan.axis]
    for load in [op for op in scan.body.block.ops if isinstance(op, loop.LoadOp)]:
        if scan.axis in load.indices and not is_in_bounds(load):
            rewriter.replace(load, masked_load(load, needed))


class ExclusiveScanPass(ModulePass):
    """Make scans exclusive whose readers read them one step late."""

    name = "exclusive-scan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite each scan whose only reader reads it one step late."""
        plan = PlanIndex(op)
        plan.rewrite(ExclusiveScan(plan))
