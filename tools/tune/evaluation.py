# SPDX-License-Identifier: Apache-2.0
"""
Evaluation of schedules: by the model in this process, on GPUs of this machine, or on a Dask farm.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen import nvrtc_library
from tilewright.codegen.gpu import Gpu, present_gpus, target_for
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.dialects.target import target as target_named
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.tools.bench.gpu import need_gpu
from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tuning.evaluators.gpu import Executors, GpuEvaluator, checked_on_gpu
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.executors.farm import Farm
from tilewright.tuning.executors.isolated import IsolatedExecutor
from tilewright.tuning.kernel_key import nvrtc_version
from tilewright.tuning.key import Key
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import at_once
from tilewright.tuning.search.tree import Node
from tilewright.tuning.space import Space

WITHOUT_GPU = "--evaluator model needs none"

_VISIBLE = "CUDA_VISIBLE_DEVICES"
"""
Environment variable with the numbers or names of the GPUs that a process sees: CUDA programming
guide, section "CUDA Environment Variables".
"""

Submit = Callable[[Node], Future[Measurement]]


class Evaluation(Protocol):
    """Protocol of evaluators, which measure the schedules of kernels for a target."""

    target: str
    device: str
    """Name of the GPU that measures, or of the target if a model estimates."""
    evaluator: str
    """Source of the times, as in keys of the database."""
    slots: int
    """Number of schedules that are evaluated concurrently."""

    def key(self, tuned: Kernel | Program) -> Key:
        """
        Return the database key for the measurements of a kernel, or for the times of a program.
        """
        ...

    def submit(self, kernel: Kernel, space: Space) -> Submit:
        """Return a function that submits a leaf of the kernel's space for measurement."""
        ...

    def complaint(self, default: ModuleOp, fused: ModuleOp) -> str:
        """
        Return a text on how results of `fused`, a program at Loop IR with schedules, differ from
        those of `default`, the default fusion. It is empty if they agree.
        """
        ...


class ByModel:
    """
    Evaluator that uses the model in this process; with the same seed, a search is reproducible.
    """

    slots = 1
    evaluator = "model"

    def __init__(self, target: str):
        self.target = self.device = target
        self._measure = model(target)

    def key(self, tuned: Kernel | Program) -> Key:
        """Return the key of the model's estimates, which depend on no GPU and no NVRTC."""
        return tuned.key(self.target, self.evaluator)

    def submit(self, kernel: Kernel, space: Space) -> Submit:
        """Return a function that estimates a leaf immediately."""
        return at_once(lambda leaf: self._measure(space.kernel(leaf)))

    def complaint(self, default: ModuleOp, fused: ModuleOp) -> str:
        """Return an empty text: the model runs nothing."""
        return ""


@dataclass
class ByGpu:
    """Evaluator that measures on one or several GPUs of the same model."""

    target: str
    device: str
    slots: int
    executors: Executors
    evaluator: str = "gpu"

    def key(self, tuned: Kernel | Program) -> Key:
        """Return the key of measurements, which depend on the GPU and the version of NVRTC."""
        return tuned.key(self.target, self.evaluator, self.device, nvrtc_version())

    def submit(self, kernel: Kernel, space: Space) -> Submit:
        """
        Return a function that compiles and measures a leaf in other processes; both can overlap.
        """
        evaluator = GpuEvaluator(kernel.text, self.target, self.executors)
        return lambda leaf: evaluator.submit(leaf.schedule or "")

    def complaint(self, default: ModuleOp, fused: ModuleOp) -> str:
        """
        Run both programs on the GPU, and return how their results differ; empty if they agree.
        """
        texts = str(default), str(fused)
        try:
            return self.executors.measuring.submit(checked_on_gpu, *texts, self.target).result()
        except WorkerLost as err:
            return str(err)


@contextmanager
def evaluation_of(args: argparse.Namespace) -> Generator[Evaluation]:
    """
    Yield the evaluator that the arguments request; its processes are ended at the end.

    Raises `TilewrightError` if a GPU is needed and there is none.
    """
    if args.evaluator == "model":
        yield ByModel(target_for(args.target))
    elif args.scheduler is not None:
        with Farm(args.scheduler) as farm, _on_farm(farm, args) as evaluation:
            yield evaluation
    else:
        need_gpu(WITHOUT_GPU)
        with _here(args) as evaluation:
            yield evaluation


@contextmanager
def _here(args: argparse.Namespace) -> Generator[ByGpu]:
    gpus = present_gpus()
    gpu = _most_common(gpus)
    named = zip(_names(len(gpus)), gpus, strict=True)
    sights = [{_VISIBLE: name} for name, other in named if other == gpu]
    jobs: int = args.jobs or cores()
    measurers = isolated(len(sights), args.limit, sights)
    with isolated(jobs, args.limit) as compiling, measurers as measuring:
        executors = Executors(compiling, measuring)
        yield ByGpu(_target_of(gpu, args.target), gpu.name, jobs + len(sights), executors)


def _names(count: int) -> list[str]:
    """
    Return the value of CUDA_VISIBLE_DEVICES that shows a process one GPU, for each of `count` GPUs.
    """
    visible = os.environ.get(_VISIBLE)
    return [str(n) for n in range(count)] if visible is None else visible.split(",")[:count]


@contextmanager
def _on_farm(farm: Farm, args: argparse.Namespace) -> Generator[ByGpu]:
    gpus = farm.gpus()
    if not gpus:
        raise TilewrightError("no worker of the farm has a GPU", remedy=WITHOUT_GPU)
    gpu = _most_common(gpus.values())
    workers = [worker for worker, its in gpus.items() if its == gpu]
    executor = farm.executor(workers, args.limit)
    with _ended(executor):
        slots: int = args.jobs or 2 * len(workers)
        target = _target_of(gpu, args.target)
        yield ByGpu(target, gpu.name, slots, Executors(executor, executor))


def _most_common(gpus: Collection[Gpu]) -> Gpu:
    """
    Return the GPU model that occurs most often; print a note if there are others, which are not
    used.
    """
    ((gpu, count),) = Counter(gpus).most_common(1)
    if count < len(gpus):
        others = ", ".join(sorted({other.name for other in gpus} - {gpu.name}))
        print(f"note: only {gpu.name} is measured, not {others}", file=sys.stderr)
    return gpu


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def isolated(
    processes: int, limit_s: float, environments: Sequence[Mapping[str, str]] = ()
) -> Generator[IsolatedExecutor]:
    """Yield an executor with this number of processes, which use the same CUDA toolkits."""
    toolkits = (nvrtc_library.toolkits(),)
    executor = IsolatedExecutor(processes, limit_s, _use_toolkits, toolkits, environments)
    with _ended(executor):
        yield executor


@contextmanager
def _ended(executor: Executor) -> Generator[None]:
    """Shut the executor down at the end, and cancel its pending work."""
    try:
        yield
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _target_of(gpu: Gpu, asked: str | None) -> str:
    """Return the target of a GPU. Raises `UsageError` if the user requests another target."""
    if gpu.target is None:
        raise UnsupportedError(f"nothing can be compiled for {gpu.name}")
    if asked is not None and target_named(asked).name != gpu.target:
        raise UsageError(
            f"the {gpu.name} is measured, whose target is {gpu.target}, not {asked}",
            remedy=f"--target goes with {WITHOUT_GPU.partition(' needs')[0]}",
        )
    return gpu.target


def _use_toolkits(homes: tuple[os.PathLike[str], ...]) -> None:
    """
    Search NVRTC and nvdisasm in these CUDA toolkits, too; called at the start of a worker process.
    """
    for home in homes:
        nvrtc_library.use_toolkit(str(home))
