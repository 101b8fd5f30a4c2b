# SPDX-License-Identifier: Apache-2.0
"""
The compiler's table of contents: the passes that take a program from each level to the next.

    torch --to-tensor--> tensor --to-loop--> loop --to-tile--> tile --to-kernel--> kernel
          --to-cuda--> cuda

Each row is a pipeline that `opt-tool -p` accepts, and also a pass with the name of the row.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes as get_xdsl_passes
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects.schedule import parse_spec_list
from tilewright.passes import get_all_passes
from tilewright.passes.driver.deferred_pass import DeferredPass
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.needs import need_of
from tilewright.passes.driver.pipeline_string import configure, parse_pipeline
from tilewright.passes.scheduling_steps import FIRST, PLAN, STEPS, scheduling_steps
from tilewright.passes.targeted_pass import TargetedPass, for_target

TO_TENSOR = (
    "decompose,expand-scatter,compose-index-maps,fold-elementwise,fold-parameter-layouts,cse"
)

TO_LOOP = (
    "lift,fuse-epilogue,inline-elementwise,exclusive-scan,fuse-epilogue,"
    "fuse-rows{online=true},fuse-outputs,fuse-reduction,"
    "fuse-parts,fuse-epilogue,fuse-outputs,fuse-reduction{keep=true},fuse-epilogue{keep=true},"
    "fuse-online,fuse-scores,one-pass-softmax,one-pass-variance,merge-siblings,merge-loops,"
    "split-axes,collapse-axes,pack-operands,simplify-accesses,predicate-positions,hoist-invariants,share-values,"
    "cut-recompute,settle-fusion,share-reciprocals,approximate-division,update-in-place,"
    "normalize-kernels,dedupe-kernels,name-kernels"
)


def to_tile() -> str:
    """
    Return the pipeline of Tile IR, with the steps of installed packages (`scheduling_steps.py`).
    """
    steps = (
        step.name if step in STEPS or step.is_offered else f"{step.name}{{planned_only=true}}"
        for step in scheduling_steps()
    )
    return ",".join((PLAN, FIRST, *steps))


TO_KERNEL = (
    "join-registers,sum-threads-last,split-joins,convert-tile-to-kernel,fuse-multiply-add,"
    "load-ahead-of-unrolled,strip-mine,skip-masks,group-masks,"
    "vectorize,canonicalize-kernels,share-values,plan-shared-memory,"
    "drop-redundant-barriers,narrow-barriers,inline-calls,plan-buffers"
)

TO_CUDA = "convert-kernel-to-cuda"


@cache
def available_passes() -> Mapping[str, Callable[[], type[ModulePass]]]:
    """Return the passes of Tilewright, of installed packages, and of xDSL, by name."""
    return {**get_xdsl_passes(), **get_all_passes()}


@lru_cache
def passes_of(pipeline: str) -> tuple[ModulePass, ...]:
    """
    Return the passes that the text of a pipeline names. Raises `UsageError` for malformed text, an
    unknown pass or an invalid option.
    """
    return parse_pipeline(pipeline, available_passes())


@dataclass(frozen=True)
class NamedPipeline(TargetedPass, ABC):
    """A pass that runs a pipeline of other passes, all for one target."""

    PIPELINE: ClassVar[str]

    @classmethod
    def pipeline(cls) -> str:
        """Return the text of the pipeline."""
        return cls.PIPELINE

    def passes(self) -> tuple[ModulePass, ...]:
        """Return the passes that it runs, in order."""
        return _passes_for(self.pipeline(), self.target)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the passes, and verify the module after each."""
        PassManager(ctx).run(op, self.passes())


@lru_cache
def _passes_for(pipeline: str, target: str) -> tuple[ModulePass, ...]:
    """
    Return the passes of a named pipeline for a target. Those that need something are loaded later.
    """
    steps = map(_deferred_pass, parse_spec_list(pipeline))
    return tuple(for_target(step, target) for step in steps)


def _deferred_pass(spec: ArgSpec) -> ModulePass:
    load = available_passes()[spec.name]
    if (need := need_of(spec.name)) is None:
        return configure(load(), spec, "pass")
    return DeferredPass(deferred=spec, load=load, need=need)


class ToTensorPass(NamedPipeline):
    """Lower Torch IR to Tensor IR."""

    name = "to-tensor"
    PIPELINE: ClassVar[str] = TO_TENSOR


class ToLoopPass(NamedPipeline):
    """Lower Tensor IR to Loop IR."""

    name = "to-loop"
    PIPELINE: ClassVar[str] = TO_LOOP


class ToTilePass(NamedPipeline):
    """Lower Loop IR to Tile IR."""

    name = "to-tile"

    @classmethod
    def pipeline(cls) -> str:
        return to_tile()


class ToKernelPass(NamedPipeline):
    """Lower Tile IR to Kernel IR."""

    name = "to-kernel"
    PIPELINE: ClassVar[str] = TO_KERNEL


class ToCudaPass(NamedPipeline):
    """Lower Kernel IR to CUDA IR."""

    name = "to-cuda"
    PIPELINE: ClassVar[str] = TO_CUDA


def expanded(passes: Iterable[ModulePass]) -> tuple[ModulePass, ...]:
    """Return `passes` with each named pipeline replaced by its passes."""
    flat: list[ModulePass] = []
    for step in passes:
        flat.extend(expanded(step.passes()) if isinstance(step, NamedPipeline) else [step])
    return tuple(flat)
