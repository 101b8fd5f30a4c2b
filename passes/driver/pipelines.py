# SPDX-License-Identifier: Apache-2.0
"""
The compiler's table of contents: which passes take a program from each level to the next.

    torch --to-tensor--> tensor --to-loop--> loop --to-tile--> tile --to-kernel--> kernel
          --to-cuda--> cuda

Each row is a pipeline that `opt-tool -p` understands, and a pass of its own by the row's name.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes as get_xdsl_passes

from tilewright.passes import get_all_passes
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.scheduling_steps import FIRST, PLAN, STEPS, scheduling_steps
from tilewright.passes.targeted_pass import TargetedPass

TO_TENSOR = (
    "decompose,expand-scatter,compose-index-maps,fold-elementwise,fold-parameter-layouts,cse"
)

TO_LOOP = (
    "lift,fuse-epilogue,inline-elementwise,fuse-epilogue,fuse-rows,fuse-outputs,fuse-reduction,"
    "fuse-parts,fuse-epilogue,fuse-outputs,fuse-reduction{keep=true},fuse-epilogue{keep=true},"
    "merge-siblings,merge-loops,"
    "split-axes,collapse-axes,simplify-accesses,predicate-positions,hoist-invariants,share-values,"
    "cut-recompute,settle-fusion,approximate-division,update-in-place,normalize-kernels,"
    "dedupe-kernels,name-kernels"
)


def to_tile() -> str:
    """Return the rewrites of Tile IR, with those of installed packages (`scheduling_steps.py`)."""
    steps = (
        step.name if step in STEPS or step.is_offered else f"{step.name}{{planned_only=true}}"
        for step in scheduling_steps()
    )
    return ",".join((PLAN, FIRST, *steps))


TO_KERNEL = (
    "split-joins,convert-tile-to-kernel,fuse-multiply-add,load-ahead-of-unrolled,group-masks,"
    "vectorize,canonicalize-kernels,share-values,plan-shared-memory,"
    "drop-redundant-barriers,narrow-barriers,inline-calls,plan-buffers"
)

TO_CUDA = "convert-kernel-to-cuda"


@cache
def available_passes() -> Mapping[str, Callable[[], type[ModulePass]]]:
    """Our passes, those of installed packages, and xDSL's."""
    return {**get_xdsl_passes(), **get_all_passes()}


@lru_cache
def passes_of(pipeline: str) -> tuple[ModulePass, ...]:
    """Return the passes that a pipeline spells; `UsageError` if there are no such passes."""
    return parse_pipeline(pipeline, available_passes())


@dataclass(frozen=True)
class NamedPipeline(TargetedPass, ABC):
    """A pass that is a pipeline of others, which all decide for one target."""

    PIPELINE: ClassVar[str]

    @classmethod
    def pipeline(cls) -> str:
        """Return the pipeline that it is."""
        return cls.PIPELINE

    def passes(self) -> tuple[ModulePass, ...]:
        """Return the passes that it runs, in order."""
        return tuple(for_target(step, self.target) for step in passes_of(self.pipeline()))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run them, verifying what each leaves behind."""
        PassManager(ctx).run(op, self.passes())


class ToTensorPass(NamedPipeline):
    """Torch IR to Tensor IR."""

    name = "to-tensor"
    PIPELINE: ClassVar[str] = TO_TENSOR


class ToLoopPass(NamedPipeline):
    """Tensor IR to Loop IR."""

    name = "to-loop"
    PIPELINE: ClassVar[str] = TO_LOOP


class ToTilePass(NamedPipeline):
    """Loop IR to Tile IR."""

    name = "to-tile"

    @classmethod
    def pipeline(cls) -> str:
        return to_tile()


class ToKernelPass(NamedPipeline):
    """Tile IR to Kernel IR."""

    name = "to-kernel"
    PIPELINE: ClassVar[str] = TO_KERNEL


class ToCudaPass(NamedPipeline):
    """Kernel IR to CUDA IR."""

    name = "to-cuda"
    PIPELINE: ClassVar[str] = TO_CUDA


def for_target(step: ModulePass, target: str) -> ModulePass:
    """`step`, deciding for `target` if it has anything to decide."""
    return replace(step, target=target) if isinstance(step, TargetedPass) else step


def expanded(passes: Iterable[ModulePass]) -> tuple[ModulePass, ...]:
    """`passes` with the passes of each named pipeline in its place."""
    flat: list[ModulePass] = []
    for step in passes:
        flat.extend(expanded(step.passes()) if isinstance(step, NamedPipeline) else [step])
    return tuple(flat)
