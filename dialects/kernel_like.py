# SPDX-License-Identifier: Apache-2.0
"""What a kernel is at every level from Loop IR down: a symbol with inputs to read and outputs."""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import BlockArgument, Region
from xdsl.irdl import AtLeast, IRDLOperation, eq, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Signature

MAX_THREADS = 1024
"""Threads in a block, on every target (CUDA C++ Programming Guide, technical specifications)."""


class KernelLikeOp(IRDLOperation, ABC):
    """A kernel: its arguments are first the buffers that it reads, then those that it writes."""

    sym_name = prop_def(SymbolNameConstraint())
    num_outputs = prop_def(IntegerAttr.constr(type=eq(i64)))
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())
    custom_directives = (Signature,)

    @property
    def inputs(self) -> Sequence[BlockArgument]:
        """What the kernel reads."""
        return self.body.block.args[: -self.num_outputs.value.data]

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """What the kernel writes."""
        return self.body.block.args[-self.num_outputs.value.data :]

    def verify_outputs(self) -> None:
        """At least one argument is written."""
        if not 1 <= self.num_outputs.value.data <= len(self.body.block.args):
            raise VerifyException("a kernel writes at least one output")


class ThreadFuncOp(KernelLikeOp, ABC):
    """One thread's program, with the launch it is made for: `grid` blocks of `block` threads."""

    grid = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    block = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))

    assembly_format = (
        "`grid` $grid `block` $block custom<Signature>($sym_name, $num_outputs, $body) attr-dict"
    )

    def __init__(self, name: str, body: Region, num_outputs: int, *, grid: int, block: int):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "num_outputs": IntegerAttr(num_outputs, i64),
                "grid": IntegerAttr(grid, i64),
                "block": IntegerAttr(block, i64),
            },
            regions=[body],
        )

    def verify_launch(self) -> None:
        """The block is one that a GPU can have, and something is written."""
        if self.block.value.data > MAX_THREADS:
            raise VerifyException(f"a block has at most {MAX_THREADS} threads")
        self.verify_outputs()
