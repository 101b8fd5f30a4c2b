# SPDX-License-Identifier: Apache-2.0
"""
Schedules measured on a GPU: compiled in parallel, then timed one after the other.

A schedule that fails to compile, gives wrong results, crashes or hangs gets a measurement without a
time and with the reason. The next schedule is measured in a working process. Errors that are not
caused by a schedule, such as a missing GPU, are raised.
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
from tilewright.errors import TilewrightError, summary_of
from tilewright.passes.driver.lowering import REFUSED, context
from tilewright.tuning.evaluators.compiled import Compiled, compiled, in_a_line
from tilewright.tuning.evaluators.reference import Reference, Where
from tilewright.tuning.evaluators.stopwatch import Job, Stopwatch
from tilewright.tuning.executors.child import SpoiledError, report_phase
from tilewright.tuning.measurement import Measurement

Measure = Callable[[Job], Measurement]


class Executors(NamedTuple):
    """Executors that compile and measure schedules of any kernels."""

    compiling: Executor
    measuring: Executor
    """Executor with one process for each GPU."""


def measured_on_gpu(job: Job) -> Measurement:
    """
    Measure a job on the GPU that is PyTorch's current device.

    Raises `SpoiledError` if a kernel has broken the GPU for this process.
    """
    plan, cubins = job.compiled
    for text, cubin in cubins.items():
        CubinCache().keep(text, job.target, cubin)
    stopwatch = _stopwatch(job.target)
    reference = _reference(job.kernel, plan.inputs, job.target)
    try:
        return stopwatch.measurement(job, reference, report_phase)
    except Exception as err:
        problem = f"failed: {summary_of(err)}"
        _check_device(stopwatch, problem)
        return Measurement(job.schedule, None, problem)


def checked_on_gpu(default: str, fused: str, target: str) -> str:
    """
    Return the error in the results of a fused program on PyTorch's current device, as `complaint`
    does; empty if they are right.

    Raises `SpoiledError` if a kernel has broken the GPU for this process.
    """
    stopwatch = _stopwatch(target)
    try:
        return complaint(default, fused, Where(stopwatch.driver, target))
    except TilewrightError:
        raise
    except Exception as err:
        problem = f"failed: {summary_of(err)}"
        _check_device(stopwatch, problem)
        return problem


def complaint(default: str, fused: str, where: Where) -> str:
    """
    Return the error in the results of `fused` on a device, or the reason why there are none; empty
    if they match those of `default`. Both are texts of one program at Loop IR; the kernels of
    `fused` have schedules.

    Raises `NvrtcUnavailable`, which is not caused by the program.
    """
    try:
        report_phase("compiling a program")
        plan = plan_of(lower_to_cuda(Parser(context(), fused).parse_module(), where.target))
        check_launches(plan.launches, where.target)
        reference = _fused_reference(default, where)
        report_phase("running a program")
        results = GpuBackend(where.target, where.driver).run(plan, reference.inputs).results
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return in_a_line(err)
    return reference.complaint([tensor_of(result) for result in results])


@lru_cache(maxsize=1)  # one program is fused in many ways
def _fused_reference(default: str, where: Where) -> Reference:
    """Return the reference of a program with its default fusion, for fixed inputs; cached."""
    module = Parser(context(), default).parse_module()
    return Reference(default, plan_of(lower_to_cuda(module, where.target)).inputs, where)


@lru_cache(maxsize=1)  # a process measures one kernel after the other
def _reference(kernel: str, inputs: tuple[ArrayType, ...], target: str) -> Reference:
    """Return the reference of a kernel, for fixed inputs; cached."""
    return Reference(kernel, inputs, Where(_stopwatch(target).driver, target))


def _check_device(stopwatch: Stopwatch, problem: str) -> None:
    """Raise `SpoiledError` unless the device still works after a problem."""
    try:
        stopwatch.device.wait()
    except Exception as err:
        raise SpoiledError(problem) from err


@lru_cache(maxsize=1)
def _stopwatch(target: str) -> Stopwatch:
    """
    Return the stopwatch of this process, created once. Raises `TilewrightError` without a GPU.
    """
    driver = gpu_driver()
    return Stopwatch(CudaDevice(target_named(target)), driver)


class GpuEvaluator:
    """Evaluator that measures schedules of one kernel, given as text at Loop IR."""

    def __init__(
        self, kernel: str, target: str, executors: Executors, measure: Measure = measured_on_gpu
    ):
        self._kernel = kernel
        self._target = target
        self._executors = executors
        self._measure = measure
        self._best_us: float | None = None

    def submit(self, schedule: str) -> Future[Measurement]:
        """Return a future of the schedule's measurement."""
        promised = Future[Measurement]()
        compiling = self._executors.compiling.submit(compiled, self._kernel, schedule, self._target)
        compiling.add_done_callback(partial(self._measure_compiled, schedule, promised))
        return promised

    def _measure_compiled(
        self,
        schedule: str,
        promised: Future[Measurement],
        compiling: Future[Compiled | str],
    ) -> None:
        """
        Submit a compiled schedule for measurement, which completes `promised`. If it does not
        compile, `promised` gets a measurement with the reason.
        """
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
    """
    Complete `promised` after the error `err`. If a process was lost, the result is a measurement
    without a time; otherwise `promised` raises the error.
    """
    if isinstance(err, WorkerLost):
        promised.set_result(Measurement(schedule, None, f"{when}{err}"))
    elif isinstance(err, TilewrightError):
        promised.set_exception(err)
    else:
        message = f"{type(err).__name__}: {err}".removesuffix(": ")
        promised.set_exception(TilewrightError(f"a schedule was not measured: {message}"))
