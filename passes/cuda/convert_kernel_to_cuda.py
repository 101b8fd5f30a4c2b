# SPDX-License-Identifier: Apache-2.0
"""
Lowering of Kernel IR to CUDA IR: the program of one thread becomes C++ statements.

    kernel.func grid 8 block 128 @relu(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
      %b = kernel.block_id
      %t = kernel.thread_id
      %zero = arith.constant 0.0 : f32
      %v = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
      %r = arith.maximumf %v, %zero : f32
      loop.store %r, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
    }

becomes the `cuda.func` whose text is

    const int b = blockIdx.x;
    const int t = threadIdx.x;
    const int i = b * 128 + t;
    const bool in = i < 1000;
    const float v = in ? x[i] : 0.0f;
    if (in) {
      out[i] = max_nan(v, 0.0f);
    }

Subscripts become row-major offsets, loads keep their order, and arithmetic that is used once is
written in place. A kernel is renamed if C++ or CUDA reserves its name. Launches stay unchanged,
except for new names.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import cached_ranges
from tilewright.dialects.cuda.identifiers import identifier
from tilewright.dialects.cuda.statements import CommentOp
from tilewright.dialects.kernel import grid, matrix, ring, warpgroup
from tilewright.passes.cuda.control_flow import CONTROL_FLOW
from tilewright.passes.cuda.conversion import Conversion, Handler
from tilewright.passes.cuda.index_values import INDEX_VALUES, THREADS
from tilewright.passes.cuda.memory import MEMORY
from tilewright.passes.cuda.registers import REGISTERS
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.op_table import OpTable

RULE = Rule("c", 1, "convert_kernel_to_cuda")


def _comment(to: Conversion, op: kernel.CommentOp) -> None:
    """Convert a comment at its place."""
    to.writer.statement(CommentOp(op.text.data))


_HANDLERS = OpTable[Handler](
    {
        **INDEX_VALUES,
        **THREADS,
        **REGISTERS,
        **MEMORY,
        **CONTROL_FLOW,
        kernel.CommentOp: _comment,
    },
    {
        matrix.__name__: ["tilewright.passes.cuda.matrices:MATRICES"],
        ring.__name__: ["tilewright.passes.cuda.rings:RINGS"],
        grid.__name__: ["tilewright.passes.cuda.grid:GRID"],
        warpgroup.__name__: ["tilewright.passes.cuda.warpgroups:WARPGROUPS"],
    },
)


class ConvertKernelToCudaPass(ModulePass):
    """Lower every kernel function to a function of CUDA statements."""

    name = "convert-kernel-to-cuda"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower each kernel of the module; raise an error if a kernel is not in Kernel IR yet."""
        above = next((k for k in op.ops if isinstance(k, loop.KernelOp)), None)
        if above is not None:
            reason = "it is not one thread's program; run to-kernel first"
            raise refused(above, f"cannot lower @{above.sym_name.data}: {reason}")
        rename_kernels(op)
        for source in [k for k in op.ops if isinstance(k, kernel.FuncOp)]:
            with rewriting(RULE, source, whole_module=True):
                with cached_ranges():
                    function = Conversion(source, _HANDLERS).run()
                op.body.block.insert_op_before(function, source)
                source.detach()


def rename_kernels(module: ModuleOp) -> None:
    """Rename kernels whose names C++ or CUDA does not allow, and update their launches."""
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, kernel.FuncOp)}
    renamed = cuda_names([*kernels])
    for old, name in renamed.items():
        kernels[old].properties["sym_name"] = StringAttr(name)
    if renamed:
        _rename_launches(module, renamed)


def cuda_names(kernels: Sequence[str]) -> dict[str, str]:
    """Return new names for the kernels whose names C++ or CUDA does not allow, by old name."""
    taken = {*kernels}
    renamed: dict[str, str] = {}
    for old in kernels:
        name = stem = identifier(old)
        if name == old:
            continue
        count = 0
        while name in taken:
            count += 1
            name = f"{stem}{count}"
        taken.add(name)
        renamed[old] = name
    return renamed


def _rename_launches(module: ModuleOp, renamed: dict[str, str]) -> None:
    for op in module.walk():
        if isinstance(op, loop.LaunchOp) and (name := renamed.get(op.kernel.string_value())):
            op.properties["kernel"] = SymbolRefAttr(name)
