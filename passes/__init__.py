# SPDX-License-Identifier: Apache-2.0
"""Table of all passes by name; each is loaded when it is first used."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name

from xdsl.passes import ModulePass

from tilewright.errors import UsageError
from tilewright.passes.scheduling_steps import STEP_GROUP, STEPS, SchedulingStep, loaded_step

# Pass name -> "module:Class" below `tilewright.passes`; `driver/pipelines.py` has their order. The
# passes that schedule launches have a table of their own, in `scheduling_steps.py`.
_PASSES: dict[str, str] = {
    "to-tensor": "driver.pipelines:ToTensorPass",
    "to-loop": "driver.pipelines:ToLoopPass",
    "to-tile": "driver.pipelines:ToTilePass",
    "to-kernel": "driver.pipelines:ToKernelPass",
    "to-cuda": "driver.pipelines:ToCudaPass",
    "decompose": "decompose.decompose:DecomposePass",
    "expand-scatter": "decompose.expand_scatter:ExpandScatterPass",
    "compose-index-maps": "tensor.compose_index_maps:ComposeIndexMapsPass",
    "fold-elementwise": "tensor.fold_elementwise:FoldElementwisePass",
    "fold-parameter-layouts": "tensor.fold_parameter_layouts:FoldParameterLayoutsPass",
    "share-values": "rewriting.share_values:ShareValuesPass",
    "decide-fusion": "loop.fusion.decide_fusion:DecideFusionPass",
    "lift": "loop.lift:LiftPass",
    "inline-elementwise": "loop.fusion.inline_elementwise:InlineElementwisePass",
    "exclusive-scan": "loop.fusion.exclusive_scan:ExclusiveScanPass",
    "fuse-epilogue": "loop.fusion.fuse_epilogue:FuseEpiloguePass",
    "fuse-scores": "loop.fusion.fuse_scores:FuseScoresPass",
    "fuse-parts": "loop.fusion.fuse_parts:FusePartsPass",
    "fuse-reduction": "loop.fusion.fuse_reduction:FuseReductionPass",
    "fuse-online": "loop.fusion.fuse_online:FuseOnlinePass",
    "drop-second-maximum": "loop.drop_second_maximum:DropSecondMaximumPass",
    "peel-last-step": "loop.peel_last_step:PeelLastStepPass",
    "one-pass-softmax": "loop.fusion.one_pass_softmax:OnePassSoftmaxPass",
    "one-pass-variance": "loop.fusion.one_pass_variance:OnePassVariancePass",
    "fuse-outputs": "loop.fusion.fuse_outputs:FuseOutputsPass",
    "fuse-rows": "loop.fusion.fuse_rows:FuseRowsPass",
    "cut-recompute": "loop.fusion.cut_recompute:CutRecomputePass",
    "settle-fusion": "loop.fusion.settle_fusion:SettleFusionPass",
    "share-reciprocals": "loop.share_reciprocals:ShareReciprocalsPass",
    "approximate-division": "loop.approximate_division:ApproximateDivisionPass",
    "merge-siblings": "loop.fusion.merge_siblings:MergeSiblingsPass",
    "merge-loops": "loop.fusion.merge_loops:MergeLoopsPass",
    "split-axes": "loop.split_axes:SplitAxesPass",
    "update-in-place": "loop.update_in_place:UpdateInPlacePass",
    "collapse-axes": "loop.collapse_axes:CollapseAxesPass",
    "pack-operands": "loop.pack_operands:PackOperandsPass",
    "hoist-invariants": "loop.hoist_invariants:HoistInvariantsPass",
    "normalize-kernels": "loop.normalize_kernels:NormalizeKernelsPass",
    "simplify-accesses": "rewriting.simplify_accesses:SimplifyAccessesPass",
    "predicate-positions": "loop.predicate_positions:PredicatePositionsPass",
    "dedupe-kernels": "loop.dedupe_kernels:DedupeKernelsPass",
    "name-kernels": "loop.name_kernels:NameKernelsPass",
    "apply-schedule": "tile.apply_schedule:ApplySchedulePass",
    "plan-schedules": "tile.planner.plan_schedules:PlanSchedulesPass",
    "tileify": "tile.tileify:TileifyPass",
    "skip-masks": "kernel.skip_masks:SkipMasksPass",
    "sum-threads-last": "kernel.sum_threads_last:SumThreadsLastPass",
    "join-registers": "kernel.join_registers:JoinRegistersPass",
    "split-joins": "kernel.split_joins:SplitJoinsPass",
    "convert-tile-to-kernel": "kernel.convert_tile_to_kernel:ConvertTileToKernelPass",
    "fuse-multiply-add": "kernel.fuse_multiply_add:FuseMultiplyAddPass",
    "load-ahead-of-unrolled": "kernel.load_ahead_of_unrolled:LoadAheadOfUnrolledPass",
    "strip-mine": "kernel.strip_mine:StripMinePass",
    "group-masks": "kernel.group_masks:GroupMasksPass",
    "vectorize": "kernel.vectorize:VectorizePass",
    "canonicalize-kernels": "kernel.canonicalize_kernels:CanonicalizeKernelsPass",
    "plan-shared-memory": "kernel.plan_shared_memory:PlanSharedMemoryPass",
    "drop-redundant-barriers": "kernel.drop_redundant_barriers:DropRedundantBarriersPass",
    "narrow-barriers": "kernel.narrow_barriers:NarrowBarriersPass",
    "inline-calls": "kernel.inline_calls:InlineCallsPass",
    "plan-buffers": "kernel.plan_buffers:PlanBuffersPass",
    "convert-kernel-to-cuda": "cuda.convert_kernel_to_cuda:ConvertKernelToCudaPass",
}

# Entry-point group in which packages outside this repository register passes.
PLUGIN_GROUP = "tilewright.passes"


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """
    Return a mapping from the name of each pass to a function that imports and returns its class.
    Passes of this repository come first, then passes of installed packages.
    """
    factories = {name: _factory(f"tilewright.passes.{path}") for name, path in _PASSES.items()}
    factories.update((step.name, _factory(step.path)) for step in STEPS)
    for group, announced in ((PLUGIN_GROUP, _announced), (STEP_GROUP, _announced_step)):
        for plugin in sorted(entry_points(group=group), key=lambda plugin: plugin.name):
            clashes = plugin.name in factories
            factories[plugin.name] = _ambiguous(plugin) if clashes else announced(plugin)
    return factories


def _factory(path: str) -> Callable[[], type[ModulePass]]:
    return lambda: resolve_name(path)


def _announced(plugin: EntryPoint) -> Callable[[], type[ModulePass]]:
    return _checked(plugin, plugin.load)


def _announced_step(plugin: EntryPoint) -> Callable[[], type[ModulePass]]:
    return _checked(plugin, lambda: _scheduling_pass(loaded_step(plugin)))


def _scheduling_pass(step: SchedulingStep) -> object:
    found = step.resolved(step.path)
    base = resolve_name("tilewright.passes.tile.scheduling_pass:SchedulingPass")
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UsageError(f"'{step.path}' of scheduling step '{step.name}' is not a SchedulingPass")
    return found


def _checked(plugin: EntryPoint, find: Callable[[], object]) -> Callable[[], type[ModulePass]]:
    announcement = f"'{plugin.value}' is announced as pass '{plugin.name}'"

    def load() -> type[ModulePass]:
        found = find()
        if not (isinstance(found, type) and issubclass(found, ModulePass)):
            raise UsageError(f"{announcement} but is not a ModulePass")
        if found.name != plugin.name:
            raise UsageError(f"{announcement} but calls itself '{found.name}'")
        return found

    return load


def _ambiguous(plugin: EntryPoint) -> Callable[[], type[ModulePass]]:
    """
    Return a function that raises `UsageError`, because `plugin` has the name of another pass. The
    error comes when the pass is used, so that all other passes still work.
    """

    def refuse() -> type[ModulePass]:
        raise UsageError(
            f"the pass name '{plugin.name}' is taken twice, once by '{plugin.value}'",
            remedy="rename or uninstall that pass",
        )

    return refuse
