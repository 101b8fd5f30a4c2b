# SPDX-License-Identifier: Apache-2.0
"""Launches pass the room that a kernel has come to need."""

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import kernel, loop
from tilewright.dialects.types import memref_type


def pass_scratch(module: ModuleOp, function: kernel.FuncOp) -> None:
    """Allocate what is scratch ahead of each launch of the kernel, and pass it last."""
    added = [output for output in function.outputs if function.is_scratch(output)]
    if not added:
        return
    for launch in launches_of(module, function.sym_name.data):
        buffers = [allocated(launch, output) for output in added]
        outputs = [*launch.outputs, *buffers]
        replacement = loop.LaunchOp(function.sym_name.data, launch.inputs, outputs)
        replace_launch(launch, [replacement])


def launches_of(module: ModuleOp, name: str) -> list[loop.LaunchOp]:
    """Where the module launches that kernel."""
    launches = (op for op in module.walk() if isinstance(op, loop.LaunchOp))
    return [op for op in launches if op.kernel.string_value() == name]


def allocated(launch: loop.LaunchOp, like: SSAValue) -> SSAValue:
    """A new buffer for an argument of a kernel, allocated ahead of a launch."""
    type = memref_type(like)
    alloc = memref.AllocOp.get(type.element_type, shape=type.get_shape())
    alloc.memref.name_hint = like.name_hint
    assert launch.parent is not None
    launch.parent.insert_op_before(alloc, launch)
    return alloc.memref


def replace_launch(launch: loop.LaunchOp, others: list[loop.LaunchOp]) -> None:
    """`others`, in their order, do what the launch did."""
    assert launch.parent is not None
    for other in others:
        other.location = launch.location
        launch.parent.insert_op_before(other, launch)
    launch.detach()
    launch.erase()
