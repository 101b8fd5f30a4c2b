# SPDX-License-Identifier: Apache-2.0
"""
Printer of CUDA IR as CUDA C++ text, which NVRTC and nvcc compile.

The text has the part of the prelude that is used, then the kernels. The host function, which
launches the kernels, is not part of it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, NamedTuple

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.target import Target

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.literals import literal
from tilewright.codegen.prelude import Call, prelude
from tilewright.codegen.statements import MAX_COLUMNS, StatementPrinter
from tilewright.dialects import cuda, loop
from tilewright.dialects.cuda import expressions as expr
from tilewright.dialects.cuda.matrices import GroupMultiplyOp, LoadMatrixOp, MatrixMultiplyOp
from tilewright.dialects.cuda.operators import BinaryOp
from tilewright.dialects.cuda.threads import PerformOp, RemoteOp
from tilewright.dialects.cuda.types import ArrayType, PointerType, TensorMapType, VariableType
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.origin import place_of
from tilewright.dialects.parameter_layout import load_axes
from tilewright.dialects.types import memref_type
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import Level, level_of, pipeline_between
from tilewright.uncollected import uncollected

_TENSOR_MAP = "TensorMap"


class CudaPrinter(StatementPrinter):
    """Printer of kernels."""

    def kernel(self, op: cuda.FuncOp) -> None:
        """Print a kernel, with its launch dimensions in a comment above it."""
        grid, block = op.grid.value.data, op.block.value.data
        pool = f", shared {bytes}" if (bytes := op.dynamic_shared_bytes) else ""
        self.line(f"// grid {grid}, block {block}{pool}")
        with self.names.scope():
            shared = _unrestricted(op)
            parameters = [
                _parameter(a.type, self.names.declare(a), restrict=a not in shared)
                for a in op.body.block.args
            ]
            self._signature(f"{_launch_bounds(op)} {op.sym_name.data}(", parameters)
            self.body(op.body.block)
        self.line("}")

    def _signature(self, name: str, parameters: list[str]) -> None:
        head = f'extern "C" __global__ void {name}'
        whole = f"{head}{', '.join(parameters)}) {{"
        if len(whole) <= MAX_COLUMNS:
            self.line(whole)
            return
        self.line(head)
        *others, last = parameters
        with self.indented(2):
            for parameter in others:
                self.line(f"{parameter},")
            self.line(f"{last}) {{")


def _launch_bounds(op: cuda.FuncOp) -> str:
    bounds = [op.block.value.data] + ([op.min_blocks.value.data] if op.min_blocks else [])
    cluster = f"__cluster_dims__({op.blocks_in_cluster}) " if op.cluster else ""
    return f"{cluster}__launch_bounds__({', '.join(map(str, bounds))})"


def _unrestricted(op: cuda.FuncOp) -> set[SSAValue]:
    """
    Return the parameters that are not `__restrict__`, because their memory is also written through
    other pointers.

    These are inputs that an output may overwrite in place, the outputs that do so, and scratch
    memory that blocks share. With `__restrict__` the compiler would move loads ahead of stores to
    the same memory, and would load through the read-only cache.
    """
    found = set[SSAValue]()
    for output in op.outputs:
        inputs = op.in_place(output)
        found.update(op.inputs[position] for position in inputs)
        found.update([output] if inputs or op.is_scratch(output) else [])
    return found


def _parameter(type: Attribute, name: str, *, restrict: bool) -> str:
    if isinstance(type, TensorMapType):
        return f"const __grid_constant__ {_TENSOR_MAP} {name}"
    assert isinstance(type, PointerType)
    const = "const " if type.is_const else ""
    qualifier = "__restrict__ " if restrict else ""
    return f"{const}{C_TYPES[type.element]} *{qualifier}{name}"


def kernels_of(module: ModuleOp) -> list[cuda.FuncOp]:
    """
    Return the kernels of a module; raise `UsageError` if some op is not lowered to CUDA IR yet.
    """
    for op in module.ops:
        if not isinstance(op, cuda.FuncOp | func.FuncOp):
            raise _not_lowered(module, op)
        if isinstance(op, func.FuncOp):
            _check_host(module, op)
    return [op for op in module.ops if isinstance(op, cuda.FuncOp)]


_HIGHER_DIALECTS = {"torch", "prim", "loop", "tile", "kernel"}


def _check_host(module: ModuleOp, function: func.FuncOp) -> None:
    for op in function.walk():
        dialect = op.name.partition(".")[0]
        if dialect in _HIGHER_DIALECTS and not isinstance(op, loop.LaunchOp):
            raise _not_lowered(module, op)


def _not_lowered(module: ModuleOp, op: Operation) -> UsageError:
    passes = pipeline_between(level_of(module), Level.CUDA)
    return UsageError(
        f"'{op.name}' is not CUDA IR",
        where=place_of(op),
        remedy=f"run {passes} before" if passes else "",
    )


def _called(ops: list[Operation]) -> Iterator[Call]:
    """Yield the functions that the text of `ops` calls."""
    for op in ops:
        match op:
            case expr.LiteralOp():
                if isinstance(value := op.value, FloatAttr):
                    yield Call(literal(value).strip("-()"), "")  # infinity and NaN print as calls
            case BinaryOp():
                pass  # a shortcut for most ops, which call nothing
            case expr.CallOp():
                type = op.arguments[0].type if op.arguments else op.result.type
                yield Call(op.callee.string_value(), C_TYPES.get(type, ""))
            case PerformOp():
                types = [C_TYPES.get(argument.type, "") for argument in op.arguments]
                yield Call(op.callee.string_value(), types[0] if types else "")
            case RemoteOp():
                yield Call("of_rank", "")
            case LoadMatrixOp() | MatrixMultiplyOp():
                yield Call(op.function, "")
            case _:
                pass


def _group_functions(ops: list[GroupMultiplyOp]) -> Iterator[str]:
    from tilewright.codegen.group_functions import group_functions  # few programs need it

    return group_functions(ops)


def _types(kernels: list[cuda.FuncOp], ops: list[Operation]) -> Iterator[str]:
    """Return the C++ names of all element types in the text of `kernels`, whose ops are `ops`."""
    types = {type for kernel in kernels for type in kernel.body.block.arg_types}
    types.update([result.type for op in ops for result in op.results])
    return map(_element_name, types)


def _element_name(type: Attribute) -> str:
    if isinstance(type, TensorMapType):
        return _TENSOR_MAP
    has_elements = isinstance(type, PointerType | VariableType | ArrayType)
    return C_TYPES[type.element if has_elements else type]


def _permuted_arguments(module: ModuleOp) -> Iterator[str]:
    """Yield a comment for each argument of a host function that is permuted when it is loaded."""
    for function in (op for op in module.ops if isinstance(op, func.FuncOp)):
        for position, axes in load_axes(function).items():
            argument = function.body.block.args[position]
            name = argument.name_hint or f"argument {position}"
            sizes = " x ".join(map(str, memref_type(argument).get_shape()))
            yield f"// {name}, {sizes}, is PyTorch's, permuted by {list(axes)} when loaded"


_NO_KERNELS = "// no kernels: nothing is computed"
"""Text of a module without kernels, so that an empty output does not look like a failure."""


class CudaText(NamedTuple):
    """CUDA C++ text, and the origins of its lines, by line number."""

    source: str
    notes: Mapping[int, str]


@uncollected()
def cuda_text(module: ModuleOp, only: Collection[cuda.FuncOp] | None = None) -> CudaText:
    """
    Return the CUDA C++ text of a module of CUDA IR, or only of the kernels in `only`, with its
    lines' origins.
    """
    kernels = [op for op in kernels_of(module) if only is None or op in only]
    lines = [*_permuted_arguments(module)]
    if not kernels:
        lines.append(_NO_KERNELS)
    ops = ops_in(*kernels)
    if functions := prelude(_called(ops), _types(kernels, ops)):
        lines += functions.split("\n")
    if by_groups := [op for op in ops if isinstance(op, GroupMultiplyOp)]:
        lines += _group_functions(by_groups)
    printer = CudaPrinter(lines)
    for kernel in kernels:
        if lines:
            lines.append("")
        printer.kernel(kernel)
    return CudaText("".join([f"{line}\n" for line in lines]), printer.notes)


def cuda_source(module: ModuleOp, only: Collection[cuda.FuncOp] | None = None) -> str:
    """Return the CUDA C++ text of a module of CUDA IR, or only of the kernels in `only`."""
    return cuda_text(module, only).source


@dataclass(frozen=True)
class CudaTarget(Target):
    """Target `-t cuda` of the command line: the text that NVRTC and nvcc compile."""

    name = "cuda"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(cuda_source(module))
