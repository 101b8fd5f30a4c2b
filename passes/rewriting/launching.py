# SPDX-License-Identifier: Apache-2.0
"""
A host function for a kernel that has none: it allocates the outputs and launches the kernel once.
"""

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Region

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.loop import KernelOp, LaunchOp
from tilewright.dialects.types import memref_type
from tilewright.errors import UsageError


def launching(kernel: KernelLikeOp, name: str) -> tuple[func.FuncOp, LaunchOp]:
    """Return a function `name` from the kernel's inputs to its outputs, and the launch in it."""
    body = Block(arg_types=[value.type for value in kernel.inputs])
    for argument, value in zip(body.args, kernel.inputs, strict=True):
        argument.name_hint = value.name_hint
    types = [memref_type(output) for output in kernel.outputs]
    allocs = [memref.AllocOp.get(type.element_type, shape=type.get_shape()) for type in types]
    results = [alloc.memref for alloc in allocs]
    for result, output in zip(results, kernel.outputs, strict=True):
        result.name_hint = output.name_hint
    launch = LaunchOp(kernel.sym_name.data, body.args, results)
    body.add_ops([*allocs, launch, func.ReturnOp(*results)])
    signature = FunctionType.from_lists(body.arg_types, [result.type for result in results])
    return func.FuncOp(name, signature, Region(body), "public"), launch


def with_main(module: ModuleOp) -> ModuleOp:
    """
    Return `module`, or a copy with an `@main` if it consists of a kernel only.

    Raises `UsageError` if it has neither.
    """
    ops = list(module.ops)
    if any(isinstance(op, func.FuncOp) and op.sym_name.data == "main" for op in ops):
        return module
    if len(ops) != 1 or not isinstance(ops[0], KernelOp | FuncOp):
        raise UsageError("the file has no function @main to run")
    extended = module.clone()
    kernel = next(op for op in extended.ops if isinstance(op, KernelOp | FuncOp))
    extended.body.block.insert_op_before(launching(kernel, "main")[0], kernel)
    return extended
