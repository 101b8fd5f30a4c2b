# SPDX-License-Identifier: Apache-2.0
"""The inputs and outputs of a kernel, while fusion changes both."""

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.passes.loop.launch_graph import inputs_of


class KernelArguments:
    """The buffers of a kernel with a single launch, to which fusion adds others."""

    def __init__(self, kernel: loop.KernelOp, launch: loop.LaunchOp):
        self.kernel, self.launch = kernel, launch
        self.buffers = list(launch.inputs)
        self.outputs = list(launch.outputs)
        updated = map(kernel.is_updated, kernel.outputs)
        self.updated = {buffer for buffer, is_updated in zip(self.outputs, updated) if is_updated}
        kernel.set_facts([])  # scheduling finds the facts about arguments again

    def argument(self, buffer: SSAValue) -> SSAValue:
        """Return the kernel's argument for an input buffer, and add one if there is none."""
        if buffer not in self.buffers:
            position = len(self.buffers)
            self.buffers.append(buffer)
            new = self.kernel.body.block.insert_arg(buffer.type, position)
            new.name_hint = buffer.name_hint
        return self.kernel.body.block.args[self.buffers.index(buffer)]

    def arguments_like(
        self, kernel: loop.KernelOp, launch: loop.LaunchOp
    ) -> dict[SSAValue, SSAValue]:
        """Return this kernel's argument for each input of another kernel; adds missing ones."""
        buffers = inputs_of(kernel, launch)
        return {theirs: self.argument(buffer) for theirs, buffer in buffers.items()}

    def add_output(self, buffer: SSAValue) -> SSAValue:
        """Add an argument for an output, and return it."""
        block = self.kernel.body.block
        new = block.insert_arg(buffer.type, len(block.args))
        new.name_hint = "out"
        self.outputs.append(buffer)
        self.kernel.properties["num_outputs"] = IntegerAttr(len(self.outputs), i64)
        return new

    def change_output(self, rewriter: PatternRewriter, old: SSAValue, new: SSAValue) -> SSAValue:
        """Return the argument for the output `old`, which from now on is for the output `new`."""
        position = self.outputs.index(old)
        self.outputs[position] = new
        argument = self.kernel.body.block.args[len(self.buffers) + position]
        if argument.type == new.type:
            return argument
        return rewriter.replace_value_with_new_type(argument, new.type)

    def relaunch(
        self, rewriter: PatternRewriter, *, at: loop.LaunchOp | None = None
    ) -> loop.LaunchOp:
        """
        Drop the inputs that the kernel no longer reads. Replace its launch by one with the other
        buffers, placed before `at`.
        """
        at = at or self.launch
        body = self.kernel.body.block
        for argument in reversed(body.args[: len(self.buffers)]):
            if argument.first_use is None:
                del self.buffers[argument.index]
                body.erase_arg(argument)
        for output, argument in zip(self.outputs, self.kernel.outputs, strict=True):
            if output in self.updated:
                self.kernel.set_updated(argument)
            alloc = output.owner
            if isinstance(alloc, Operation) and not alloc.is_before_in_block(at):
                alloc.detach()
                rewriter.insert(alloc, InsertPoint.before(at))
        launch = loop.LaunchOp(self.kernel.sym_name.data, self.buffers, self.outputs)
        launch.location = at.location
        rewriter.insert(launch, InsertPoint.before(at))
        rewriter.erase(self.launch)
        return launch
