# SPDX-License-Identifier: Apache-2.0
"""
Schedules measured on a GPU: compiled side by side, then timed one after the other.

A schedule that does not compile, computes something else, crashes or hangs has a measurement
without a time, which says so; the next one is measured in a process that is well. What is no fault
of a schedule, such as a GPU that is not there, is raised.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import lru_cache, partial
from typing import NamedTuple

from xdsl.parser import Parser

from tilewright.arrays import tensor_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.runtime.cubin_cache import CubinCache
from tilewright.codegen.runtime.gpu_backend import GpuBackend, gpu_driver
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.codegen.target_limits import check_launches
from tilewright.codegen.timing.cuda_device import CudaDevice
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.dialects.target import target as target_named
from tilewright.errors import TilewrightError, in_brief
from tilewright.passes.driver.lowering import REFUSED, context
from tilewright.tuning.evaluators.compiled import Compiled, compiled, in_a_line
from tilewright.tuning.evaluators.reference import Reference, Where
from tilewright.tuning.evaluators.stopwatch import Job, Stopwatch
from tilewright.tuning.executors.child import SpoiledError, tell
from tilewright.tuning.measurement import Measurement

Measure = Callable[[Job], Measurement]


class Executors(NamedTuple):
    """Where schedules of any kernels are compiled and measured."""

    compiling: Executor
    measuring: Executor
    """With one process for each GPU."""


def measured_on_gpu(job: Job) -> Measurement:
    """
    Return a job, done on the GPU that is PyTorch's current device.

    Raises `SpoiledError` where a kernel has broken the GPU for this process.
    """
    plan, cubins = job.compiled
    for text, cubin in cubins.items():
        CubinCache().keep(text, job.target, cubin)
    stopwatch = _stopwatch(job.target)
    reference = _reference(job.kernel, plan.inputs, job.target)
    try:
        return stopwatch.measurement(job, reference, tell)
    except Exception as err:
        problem = f"failed: {in_brief(err)}"
        _check_device(stopwatch, problem)
        return Measurement(job.schedule, None, problem)


def checked_on_gpu(default: str, fused: str, target: str) -> str:
    """
    What is wrong with a program as it is fused, on the same GPU (`complaint`).

    Raises `SpoiledError` where a kernel has broken the GPU for this process.
    """
    stopwatch = _stopwatch(target)
    try:
        return complaint(default, fused, Where(stopwatch.driver, target))
    except TilewrightError:
        raise
    except Exception as err:
        problem = f"failed: {in_brief(err)}"
        _check_device(stopwatch, problem)
        return problem


def complaint(default: str, fused: str, where: Where) -> str:
    """
    Return what is wrong with the results of `fused` on a device, or why there are none; empty if
    they are right, which is what `default` computes. Both are texts of one program at Loop IR,
    `fused` with the schedules of its kernels.

    Raises `NvrtcUnavailable`, which is no fault of the program.
    """
    try:
        tell("compiling a program")
        plan = plan_of(lower_to_cuda(Parser(context(), fused).parse_module(), where.target))
        check_launches(plan.launches, where.target)
        reference = _fused_reference(default, where)
        tell("running a program")
        results = GpuBackend(where.target, where.driver).run(plan, reference.inputs).results
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return in_a_line(err)
    return reference.complaint([tensor_of(result) for result in results])


@lru_cache(maxsize=1)  # one program is fused in many ways
def _fused_reference(default: str, where: Where) -> Reference:
    """Return the reference of a program as it is fused by default, for fixed inputs."""
    module = Parser(context(), default).parse_module()
    return Reference(default, plan_of(lower_to_cuda(module, where.target)).inputs, where)


@lru_cache(maxsize=1)  # a process measures one kernel after the other
def _reference(kernel: str, inputs: tuple[ArrayType, ...], target: str) -> Reference:
    """What a kernel should compute, which is found out once."""
    return Reference(kernel, inputs, Where(_stopwatch(target).driver, target))


def _check_device(stopwatch: Stopwatch, problem: str) -> None:
    """Raise `SpoiledError` unless the device goes on after a problem."""
    try:
        stopwatch.device.wait()
    except Exception as err:
        raise SpoiledError(problem) from err


@lru_cache(maxsize=1)
def _stopwatch(target: str) -> Stopwatch:
    """
    Return the GPU, once for all jobs of a process. Raises `TilewrightError` where there is none.
    """
    driver = gpu_driver()
    return Stopwatch(CudaDevice(target_named(target)), driver)


class GpuEvaluator:
    """Measures schedules of one kernel, of which it has the text at Loop IR."""

    def __init__(
        self, kernel: str, target: str, executors: Executors, measure: Measure = measured_on_gpu
    ):
        self._kernel = kernel
        self._target = target
        self._executors = executors
        self._measure = measure
        self._best_us: float | None = None

    def submit(self, schedule: str) -> Future[Measurement]:
        """Return a schedule's measurement, some time."""
        promised = Future[Measurement]()
        compiling = self._executors.compiling.submit(compiled, self._kernel, schedule, self._target)
        compiling.add_done_callback(partial(self._go_on, schedule, promised))
        return promised

    def _go_on(
        self,
        schedule: str,
        promised: Future[Measurement],
        compiling: Future[Compiled | str],
    ) -> None:
        """Have a schedule measured that has been compiled."""
        try:
            found = compiling.result()
            if isinstance(found, str):
                promised.set_result(Measurement(schedule, None, f"does not compile: {found}"))
                return
            job = Job(self._kernel, schedule, found, self._target, self._best_us)
            measuring = self._executors.measuring.submit(self._measure, job)
        except BaseException as err:
            _fail(promised, schedule, "compiling: ", err)
            return
        measuring.add_done_callback(partial(self._finish, schedule, promised))

    def _finish(
        self, schedule: str, promised: Future[Measurement], measuring: Future[Measurement]
    ) -> None:
        try:
            measurement = measuring.result()
        except BaseException as err:
            _fail(promised, schedule, "", err)
            return
        if measurement.us is not None:
            self._best_us = min(measurement.us, self._best_us or measurement.us)
        promised.set_result(measurement)


def _fail(promised: Future[Measurement], schedule: str, when: str, err: BaseException) -> None:
    """A process that was lost is the schedule's problem; all else is raised."""
    if isinstance(err, WorkerLost):
        promised.set_result(Measurement(schedule, None, f"{when}{err}"))
    elif isinstance(err, TilewrightError):
        promised.set_exception(err)
    else:
        said = f"{type(err).__name__}: {err}".removesuffix(": ")
        promised.set_exception(TilewrightError(f"a schedule was not measured: {said}"))
