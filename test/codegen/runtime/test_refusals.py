# SPDX-License-Identifier: Apache-2.0
"""Errors of the driver: one sentence that names the kernel or the fill."""

import re

import numpy as np
import pytest

from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.driver import Arguments, DriverError, Graph, Memory
from tilewright.codegen.runtime.libcuda import LibCuda

from .driver_samples import MAP, MAPPED, POINTERS, SCALE, SOURCE, X, Y
from .fake_driver import FakeDriver


def test_a_graph_does_not_take_other_rows(cuda_driver: CudaDriver, fake: FakeDriver):
    places = (Memory(p, ArrayType((64,), np.dtype(np.int64))) for p in (X.address, Y.address))
    before, after = (cuda_driver.bind_fill(memory, 5) for memory in places)
    graph = cuda_driver.graph([before])
    with pytest.raises(DriverError, match=r"^a fill in a CUDA graph: CUDA_ERROR_INVALID_VALUE"):
        graph.update(0, after)


def graph_of(driver: CudaDriver) -> Graph:
    """Return a graph of two steps: a fill with ones, then a launch."""
    function = driver.load(SOURCE, "sm_90a").function("scale", 0)
    return driver.graph(
        [driver.bind_fill(Y, 1.0, "the fill of %y"), function.bind(SCALE, POINTERS)]
    )


IN_GRAPHS = {
    "add memset": (1, "the fill of %y in a CUDA graph: "),
    "add kernel": (1, "kernel 'scale' in a CUDA graph: "),
    "cuGraphInstantiate": (1, "kernel 'scale' in a CUDA graph: "),
    "cuGraphInstantiate, of no node": (2, "the CUDA graph from the fill of %y to kernel 'scale': "),
}


@pytest.mark.parametrize("refusal", IN_GRAPHS)
def test_errors_of_a_graph_name_their_step(refusal: str, cuda_driver: CudaDriver, fake: FakeDriver):
    status, message = IN_GRAPHS[refusal]
    fake.fail(refusal.split(",")[0], status)
    with pytest.raises(DriverError, match=f"^{re.escape(message)}CUDA_ERROR"):
        graph_of(cuda_driver)


def test_a_graph_that_is_not_launched_is_named(cuda_driver: CudaDriver, fake: FakeDriver):
    graph = graph_of(cuda_driver)
    fake.fail("cuGraphLaunch", 1)
    message = "the CUDA graph from the fill of %y to kernel 'scale': CUDA_ERROR"
    with pytest.raises(DriverError, match=f"^{message}"):
        graph(0)


def test_a_fill_that_is_refused_is_named(cuda_driver: CudaDriver, fake: FakeDriver):
    bound = cuda_driver.bind_fill(Y, 1.0, "the fill of %y")
    fake.fail("memset 4", 1)
    with pytest.raises(DriverError, match=r"^the fill of %y cannot be queued: CUDA_ERROR"):
        bound(0)


def test_a_tensor_map_that_is_refused_names_its_kernel(cuda_driver: CudaDriver, fake: FakeDriver):
    function = cuda_driver.load(SOURCE, "sm_90a").function("mapped", 70000)
    fake.fail("cuTensorMapEncodeTiled", 1)
    message = (
        r"kernel 'mapped': the tensor map of float32\[64, 32\], box \[16, 8\], swizzle 32: CUDA"
    )
    with pytest.raises(DriverError, match=f"^{message}"):
        function.bind(MAPPED, Arguments(((MAP, X),), (X,), (Y,)))


def test_a_launch_that_is_refused_names_its_kernel(cuda_driver: CudaDriver, fake: FakeDriver):
    bound = cuda_driver.load(SOURCE, "sm_90a").function("scale", 0).bind(SCALE, POINTERS)
    fake.fail("cuLaunchKernelEx", 1)
    message = "kernel 'scale' cannot be launched: CUDA_ERROR_INVALID_VALUE, invalid argument"
    with pytest.raises(DriverError, match=f"^{re.escape(message)}$"):
        bound(0)


@pytest.mark.parametrize("status", [700, 719])
def test_a_kernel_is_not_blamed_for_one_before_it(
    status: int, cuda_driver: CudaDriver, fake: FakeDriver
):
    """A failure on the GPU is reported by the next call, whichever it is."""
    bound = cuda_driver.load(SOURCE, "sm_90a").function("scale", 0).bind(SCALE, POINTERS)
    fake.fail("cuLaunchKernelEx", status)
    message = "^kernel 'scale' cannot be launched, because an earlier kernel failed: CUDA_ERROR"
    with pytest.raises(DriverError, match=message) as refusal:
        bound(0)
    assert "'tilewright run' waits for each kernel" in str(refusal.value)


def test_an_error_while_waiting_is_reported_unchanged(cuda_driver: CudaDriver, fake: FakeDriver):
    fake.fail("wait", 700)
    with pytest.raises(DriverError, match=r"^CUDA_ERROR_OTHER, other$"):
        cuda_driver.synchronize(0)


def test_too_much_shared_memory_names_its_kernel(cuda_driver: CudaDriver, fake: FakeDriver):
    module = cuda_driver.load(SOURCE, "sm_90a")
    fake.fail("cuFuncSetAttribute", 1)
    with pytest.raises(DriverError, match=r"^kernel 'mapped' with 900000 bytes of dynamic shared"):
        module.function("mapped", 900000)


def test_an_old_driver_is_one_sentence(cuda_driver: CudaDriver, fake: FakeDriver):
    fake.version(12040)
    fake.fail("cuModuleLoadData", 222)
    message = "^the driver supports CUDA 12.4, but the kernels are compiled by NVRTC 13.0 .update"
    with pytest.raises(DriverError, match=message):
        cuda_driver.load(SOURCE, "sm_90a")
    assert fake.log()[-1] == "pop "


def test_machine_code_of_another_gpu_is_refused(cuda_driver: CudaDriver, fake: FakeDriver):
    fake.fail("cuModuleLoadData", 209)
    with pytest.raises(DriverError, match="the driver does not load the kernels: CUDA_ERROR"):
        cuda_driver.load(SOURCE, "sm_90a")


def test_a_driver_that_lacks_a_function_is_one_sentence(cuda_driver: CudaDriver):
    message = r"^kernel 'scale': the driver has no cuNewThing \(update the driver\)$"
    with pytest.raises(DriverError, match=message):
        cuda_driver.lib.call("kernel 'scale'", "cuNewThing")


def test_no_driver_is_one_sentence():
    with pytest.raises(DriverError, match=r"needs NVIDIA's driver, and no-such-library\.so is not"):
        LibCuda("no-such-library.so")
