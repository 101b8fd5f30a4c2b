# SPDX-License-Identifier: Apache-2.0
"""The walk over a kernel that makes CUDA IR of it: a table says which op is handled by whom."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import cuda, kernel
from tilewright.dialects.cuda_types import PointerType
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.erase_unused import erase_unused
from tilewright.passes.cuda.index_type import index_type
from tilewright.passes.cuda.indices import Indices
from tilewright.passes.cuda.scalars import scalar_expression
from tilewright.passes.cuda.writer import Writer

Handler = Callable[["Conversion", Any], None]
"""Converts one op of a class."""

Handlers = Mapping[type[Operation], Handler]


class Conversion:
    """One walk over a kernel function."""

    def __init__(self, source: kernel.FuncOp, handlers: Handlers):
        self.source, self.handlers = source, handlers
        self.accesses = Accesses(source)
        self.body = Block()
        self.writer = Writer(self.body, source.sym_name.data, index_type(source, self.accesses))
        self.indices = Indices(self.writer, self.accesses)

    def run(self) -> cuda.FuncOp:
        """The CUDA function that does what the kernel does."""
        for argument in self.source.body.block.args:
            element = self.element(argument)
            is_const = argument in self.source.inputs
            pointer = self.body.insert_arg(
                PointerType.get(element, const=is_const), len(self.body.args)
            )
            pointer.name_hint = argument.name_hint
            self.writer.values[argument] = pointer
        with self.indices.scope(self.source.body.block):
            self.convert_all(self.source.body.block.ops)
        erase_unused(self.body)
        function = cuda.FuncOp(
            self.source.sym_name.data,
            Region(self.body),
            self.source.num_outputs.value.data,
            grid=self.source.grid.value.data,
            block=self.source.block.value.data,
        )
        function.set_facts(self.source.facts)
        if function.shared_bytes > cuda.MAX_STATIC_SHARED:
            raise self.writer.unsupported(
                f"{function.shared_bytes} bytes of shared memory; it may declare "
                f"{cuda.MAX_STATIC_SHARED}"
            )
        return function

    def element(self, memref: SSAValue) -> Attribute:
        """The type of the elements of a memref."""
        if not isinstance(memref.type, MemRefType):
            raise self.writer.unsupported(f"a parameter of type {memref.type}")
        type = memref_type(memref)
        is_plain = isinstance(type.layout, NoneAttr) and type.has_static_shape()
        if not is_plain or isinstance(type.element_type, IndexType):
            raise self.writer.unsupported(f"memory of type {type}")
        return self.writer.type(type.element_type)

    def convert_all(self, ops: Iterable[Operation]) -> None:
        """Convert ops of one block, in order."""
        for op in ops:
            if op in self.accesses.filled.gone:
                continue
            if (handler := self.handlers.get(type(op))) is not None:
                handler(self, op)
            else:
                self._convert_scalar(op)

    def _convert_scalar(self, op: Operation) -> None:
        """Everything that has no handler is scalar arithmetic."""
        values = [self.writer.use(v) for v in op.operands]
        if (value := scalar_expression(op, values, self.writer)) is None:
            types = ", ".join(str(v.type) for v in op.operands)
            raise self.writer.unsupported(f"'{op.name}' on ({types})")
        self.writer.bind(op.results[0], value)
