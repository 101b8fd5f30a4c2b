# SPDX-License-Identifier: Apache-2.0
"""
The launch plan as a graph: which kernel a launch runs, who writes a buffer and who reads it, and
how a kernel's inputs change.
"""

from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.traits import SymbolTable

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp


def kernel_of(launch: loop.LaunchOp) -> loop.KernelOp | None:
    """The kernel that `launch` runs, at Loop or Tile IR."""
    callee = SymbolTable.lookup_symbol(launch, launch.kernel)
    return callee if isinstance(callee, loop.KernelOp) else None


def readers(buffer: SSAValue) -> list[loop.LaunchOp]:
    """The launches that read `buffer`, in order."""
    launches = {use.operation for use in buffer.uses if isinstance(use.operation, loop.LaunchOp)}
    reading = {launch for launch in launches if buffer in launch.inputs}
    block = next(iter(launches)).parent if launches else None
    if block is None:
        return []
    return [op for op in block.ops if isinstance(op, loop.LaunchOp) and op in reading]


def is_temporary(buffer: SSAValue) -> bool:
    """Whether only launches use `buffer`, and it was allocated for them."""
    return isinstance(buffer.owner, memref.AllocOp) and all(
        isinstance(use.operation, loop.LaunchOp) for use in buffer.uses
    )


def loads_of(kernel: loop.KernelOp, launch: loop.LaunchOp, buffer: SSAValue) -> list[loop.LoadOp]:
    """The loads in `kernel` that read `buffer` in this launch."""
    arguments = {a for a, v in zip(kernel.inputs, launch.inputs, strict=True) if v is buffer}
    return [op for op in kernel.walk() if isinstance(op, loop.LoadOp) and op.memref in arguments]


def evaluations(op: Operation) -> int:
    """How many times `op` runs in one launch of its kernel."""
    extents: list[int] = []
    scope = op.parent_op()
    while scope is not None:
        if isinstance(scope, AxesOp):
            extents.extend(scope.axis_extents())
        scope = scope.parent_op()
    return prod(extents)


class KernelArguments:
    """The inputs of one kernel, to which others can be added."""

    def __init__(self, kernel: loop.KernelOp, launch: loop.LaunchOp):
        self.kernel, self.launch = kernel, launch
        self.buffers = list(launch.inputs)

    def argument(self, buffer: SSAValue) -> SSAValue:
        """The kernel's argument for `buffer`, new if it has none yet."""
        if buffer not in self.buffers:
            position = len(self.buffers)
            self.buffers.append(buffer)
            new = self.kernel.body.block.insert_arg(buffer.type, position)
            new.name_hint = buffer.name_hint
        return self.kernel.body.block.args[self.buffers.index(buffer)]

    def arguments_like(
        self, kernel: loop.KernelOp, launch: loop.LaunchOp
    ) -> dict[SSAValue, SSAValue]:
        """This kernel's argument for each input of another."""
        return {
            theirs: self.argument(buffer)
            for theirs, buffer in zip(kernel.inputs, launch.inputs, strict=True)
        }

    def relaunch(
        self, rewriter: PatternRewriter, name: str, *, instead_of: loop.LaunchOp | None = None
    ) -> None:
        """
        Drop inputs that the kernel no longer reads and launch it with the rest, in the place and
        with the outputs of another launch (its own if none is given).
        """
        for position in reversed(range(len(self.buffers))):
            argument = self.kernel.body.block.args[position]
            if not argument.uses:
                self.kernel.body.block.erase_arg(argument)
                del self.buffers[position]
        replaced = instead_of or self.launch
        outputs = list(replaced.outputs)
        self.kernel.properties["sym_name"] = StringAttr(name)
        if replaced is not self.launch:
            rewriter.erase(self.launch)
        rewriter.replace(replaced, loop.LaunchOp(name, self.buffers, outputs), [])


def erase_kernel(rewriter: PatternRewriter, kernel: loop.KernelOp, buffer: SSAValue) -> None:
    """Erase a kernel that is no longer launched, and the buffer that nobody uses any more."""
    rewriter.erase(kernel)
    if not buffer.uses and isinstance(buffer.owner, Operation):
        rewriter.erase(buffer.owner)
