# SPDX-License-Identifier: Apache-2.0
"""
Base classes of kernels at every level from Loop IR down: a symbol with input and output buffers.
"""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region
from xdsl.irdl import AtLeast, eq, opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.argument_facts import (
    INITIAL,
    SCRATCH,
    UPDATED,
    Facts,
    Initial,
    alignment_in,
    initial_in,
    inputs_in_place,
    scratch,
    verify_facts,
    with_alignment,
    with_in_place,
)
from tilewright.dialects.faster_xdsl.built_op import BuiltOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.signature import Signature
from tilewright.errors import UsageError

MAX_THREADS = 1024
"""Most threads of a block on all targets (CUDA C++ Programming Guide, technical specifications)."""

MAX_CLUSTER = 8
"""Most blocks of a cluster on targets with clusters (Programming Guide, thread block clusters)."""


class Isolated(IsolatedFromAbove):
    """
    Trait of a kernel, whose body uses no values from outside.

    xDSL's own check walks the kernel once more; it is skipped because `verify_dominance` finds
    outside values, too.
    """

    def verify(self, op: Operation) -> None:
        """Check nothing: `verify_dominance` finds values from outside."""


class KernelLikeOp(BuiltOp, ABC):
    """
    Base class of kernel ops; the arguments are the input buffers first, then the output buffers.
    """

    sym_name = prop_def(SymbolNameConstraint())
    num_outputs = prop_def(IntegerAttr.constr(type=eq(i64)))
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    schedule = opt_prop_def(ScheduleAttr)
    """Passes that scheduled the kernel, in the syntax of `opt-tool -p`."""
    body = region_def("single_block")

    traits = traits_def(Isolated(), NoTerminator(), SymbolOpInterface())
    custom_directives = (Signature,)

    @property
    def buffers(self) -> Sequence[BlockArgument]:
        """The arguments that launches pass buffers for, in order."""
        return self.body.block.args

    @property
    def inputs(self) -> Sequence[BlockArgument]:
        """The arguments that the kernel reads."""
        return self.buffers[: -self.num_outputs.value.data]

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """The arguments that the kernel writes."""
        return self.buffers[-self.num_outputs.value.data :]

    @property
    def result_buffers(self) -> Sequence[BlockArgument]:
        """The outputs that hold results after a launch: all except scratch."""
        return [output for output in self.outputs if not self.is_scratch(output)]

    @property
    def facts(self) -> Sequence[Facts]:
        """The attributes of each argument."""
        if self.arg_attrs is None:
            return [{} for _ in self.body.block.args]
        return [attributes.data for attributes in self.arg_attrs]

    def set_facts(self, facts: Sequence[Facts]) -> None:
        """Replace the attributes of all arguments."""
        self.arg_attrs = ArrayAttr(DictionaryAttr(f) for f in facts) if any(facts) else None

    def _set_fact(self, argument: BlockArgument, facts: Facts) -> None:
        self.set_facts([*self.facts[: argument.index], facts, *self.facts[argument.index + 1 :]])

    def alignment_of(self, argument: BlockArgument) -> int:
        """Return the guaranteed alignment of the address of `argument` in bytes."""
        return alignment_in(self.facts[argument.index], argument.type)

    def require_alignment(self, argument: BlockArgument, bytes: int) -> None:
        """
        Require an alignment of `bytes` of `argument`; a smaller requirement than the present one is
        ignored.

        `bytes` is a power of two up to `buffer_plan.ALIGNMENT`. The plan passes aligned buffers
        only.
        """
        if bytes > self.alignment_of(argument):
            self._set_fact(argument, with_alignment(self.facts[argument.index], bytes))

    def in_place(self, output: BlockArgument) -> tuple[int, ...]:
        """Return the positions of the inputs whose buffers launches may also pass as `output`."""
        return inputs_in_place(self.facts[output.index])

    def set_in_place(self, output: BlockArgument, inputs: Sequence[int]) -> None:
        """Allow launches to pass the buffer of each of `inputs` (positions) as `output`, too."""
        self._set_fact(output, with_in_place(self.facts[output.index], inputs))

    def initial(self, output: BlockArgument) -> Initial | None:
        """
        Return the value of every element of `output` when the kernel starts; None if arbitrary.
        """
        return initial_in(self.facts[output.index])

    def set_initial(self, output: BlockArgument, initial: Initial) -> None:
        """Require that every element of `output` is `initial` when the kernel starts."""
        self._set_fact(output, {**self.facts[output.index], INITIAL: initial})

    def is_updated(self, output: BlockArgument) -> bool:
        """True if the kernel writes only a part of `output`, and the rest keeps its contents."""
        return UPDATED in self.facts[output.index]

    def set_updated(self, output: BlockArgument) -> None:
        """Mark `output` as written in part only; launches pass a buffer that holds the rest."""
        self._set_fact(output, {**self.facts[output.index], UPDATED: UnitAttr()})

    def is_scratch(self, output: BlockArgument) -> bool:
        """True if `output` is workspace of the kernel, not a result."""
        return SCRATCH in self.facts[output.index]

    def is_kept(self, output: BlockArgument) -> bool:
        """
        True if `output` is scratch that the kernel restores to its initial value for the next
        launch.
        """
        return self.is_scratch(output) and self.initial(output) is not None

    def add_scratch(
        self, type: Attribute, name: str, initial: Initial | None = None
    ) -> BlockArgument:
        """Add and return a new last output that is workspace; launches have to pass it."""
        facts = [*self.facts, scratch(initial)]
        argument = self.body.block.insert_arg(type, len(self.body.block.args))
        argument.name_hint = name
        self.num_outputs = IntegerAttr(self.num_outputs.value.data + 1, i64)
        self.set_facts(facts)
        return argument

    def verify_signature(self) -> None:
        """
        Raise `VerifyException` unless the arguments, their attributes and the schedule are valid.
        """
        if not 1 <= self.num_outputs.value.data <= len(self.buffers):
            raise VerifyException("a kernel writes at least one output")
        if self.arg_attrs is not None:
            others = len(self.body.block.args) - len(self.buffers)
            types = [buffer.type for buffer in self.buffers]
            verify_facts(self.facts[others:], types, len(self.inputs))
        if self.schedule is not None:
            _verify_pipeline(self.schedule)


def _verify_pipeline(schedule: ScheduleAttr) -> None:
    """
    Raise `VerifyException` unless `schedule` parses as a pipeline; its passes may be unknown here.
    """
    if not schedule.data:
        raise VerifyException("the schedule has no steps; remove it")
    try:
        _ = schedule.steps
    except UsageError as err:
        reason = err.message.splitlines()[0]
        raise VerifyException(
            f"the schedule '{schedule.data}' is not a pipeline: {reason}"
        ) from err


class ThreadFuncOp(KernelLikeOp, ABC):
    """
    Base class of ops that are the program of one thread, launched as `grid` blocks of `block`
    threads.

    `min_blocks` is the number of blocks that must fit on a multiprocessor at once, which limits the
    registers of a thread. `cluster` consecutive blocks form a cluster and run at the same time.
    """

    grid = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    block = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    min_blocks = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    cluster = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))

    assembly_format = (
        "`grid` $grid `block` $block (`min_blocks` $min_blocks^)? (`cluster` $cluster^)? "
        "custom<Signature>($sym_name, $num_outputs, $arg_attrs, $body) "
        "(`schedule` $schedule^)? attr-dict"
    )

    def __init__(
        self,
        name: str,
        body: Region,
        num_outputs: int,
        *,
        grid: int,
        block: int,
        min_blocks: int | None = None,
        cluster: int | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "num_outputs": IntegerAttr(num_outputs, i64),
                "grid": IntegerAttr(grid, i64),
                "block": IntegerAttr(block, i64),
                "min_blocks": None if min_blocks is None else IntegerAttr(min_blocks, i64),
                "cluster": None if cluster is None else IntegerAttr(cluster, i64),
            },
            regions=[body],
        )

    @property
    def blocks_in_cluster(self) -> int:
        """Number of blocks in a cluster, at least one."""
        return 1 if self.cluster is None else self.cluster.value.data

    def verify_launch(self) -> None:
        """
        Raise `VerifyException` unless block and cluster are within a GPU's limits and the signature
        is valid.
        """
        if self.block.value.data > MAX_THREADS:
            raise VerifyException(f"a block has at most {MAX_THREADS} threads")
        if self.blocks_in_cluster > MAX_CLUSTER:
            raise VerifyException(f"a cluster has at most {MAX_CLUSTER} blocks")
        if self.grid.value.data % self.blocks_in_cluster:
            raise VerifyException(
                f"clusters of {self.blocks_in_cluster} do not divide a grid of "
                f"{self.grid.value.data} blocks"
            )
        self.verify_signature()
