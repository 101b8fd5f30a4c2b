# SPDX-License-Identifier: Apache-2.0
"""Behaviour that all drivers share: the simulator's driver, and the GPU's where there is a GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from nvrtc_needed import need_nvrtc

from tilewright.codegen.gpu import target_for
from tilewright.codegen.launch_plan import ArrayType, Launch, MapOf
from tilewright.codegen.runtime import gpu_backend
from tilewright.codegen.runtime.driver import Arguments, Driver, DriverError, Function, Memory
from tilewright.codegen.runtime.gpu_backend import is_installed, reason_against_gpu
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.runtime.tensors import current_stream
from tilewright.dialects.target import target
from tilewright.errors import TilewrightError

SOURCE = """
struct alignas(128) TensorMap { unsigned long long words[16]; };

extern "C" __global__ void scale(const float *x, float *y) {
  extern __shared__ float pool[];
  pool[threadIdx.x] = 2.0f * x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = pool[63 - threadIdx.x];
}

extern "C" __global__ void box(
    const __grid_constant__ TensorMap map, const float *x, float *y) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;"
                 : : "r"(barrier) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 : : "r"(to), "l"(&map), "r"(8), "r"(4), "r"(barrier) : "memory");
  }
  __syncthreads();
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                 " selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void trapping(const float *x, float *y) { asm volatile("trap;"); }
"""
ROW = ArrayType((64,), np.dtype(np.float32))
SCALE = Launch("scale", 1, 64, 256, (0,), (1,), (), 256)


def _on_gpu(name: str) -> Callable[[], Driver]:
    def made() -> Driver:
        if (reason := reason_against_gpu()) is not None:
            pytest.skip(f"no GPU: {reason}")
        if not is_installed(name):
            pytest.skip(f"{name} is not installed")
        return gpu_backend.DRIVERS[name]()

    return made


DRIVERS: dict[str, Callable[[], Driver]] = {
    "simulator": SimulatedDriver,
    **{name: _on_gpu(name) for name in gpu_backend.DRIVERS},
}


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    """Each driver that runs on this machine."""
    need_nvrtc()
    return DRIVERS[request.param]()


def loaded(driver: Driver, kernel: str, dynamic: int = 0) -> Function:
    """Return a kernel of `SOURCE`."""
    return driver.load(SOURCE, target_for(None)).function(kernel, dynamic)


def memory(tensor: torch.Tensor) -> Memory:
    """Return the memory of a tensor."""
    dtype = np.dtype(str(tensor.dtype).removeprefix("torch."))
    return Memory(tensor.data_ptr(), ArrayType(tuple(tensor.shape), dtype))


def run(driver: Driver, *steps: Any) -> None:
    """Queue steps on the current stream, and wait for them."""
    stream = current_stream(driver.device).handle
    driver.enter()
    try:
        for step in steps:
            step(stream)
        driver.synchronize(stream)
    finally:
        driver.leave()


def row(driver: Driver, start: int = 0) -> torch.Tensor:
    """Return 64 consecutive numbers, on the device."""
    return torch.arange(start, start + 64, dtype=torch.float32, device=driver.device)


def pointers(x: torch.Tensor, y: torch.Tensor) -> Arguments:
    """Return the arguments of a kernel with one input and one output."""
    return Arguments((), (memory(x),), (memory(y),))


def test_a_launch_with_dynamic_shared_memory(driver: Driver):
    x, y = row(driver), row(driver)
    run(driver, loaded(driver, "scale", 256).bind(SCALE, pointers(x, y)))
    assert torch.equal(y, 2 * x.flip(0))


def test_a_tensor_map(driver: Driver):
    x = torch.arange(32 * 16, dtype=torch.float32, device=driver.device).reshape(32, 16)
    y = torch.zeros(64, device=driver.device)
    map = MapOf(0, (32, 16), (8, 8), 0)
    arguments = Arguments(((map, memory(x)),), (memory(x),), (memory(y),))
    launch = Launch("box", 1, 64, 264, (0,), (1,), (), 0, (map,))
    run(driver, loaded(driver, "box").bind(launch, arguments))
    assert torch.equal(y.reshape(8, 8), x[4:12, 8:16])


FILLS = [
    (torch.float32, 1.5),
    (torch.float16, -2.0),
    (torch.bool, 1),
    (torch.int64, 1 << 40 | 3),
    (torch.float64, 0.1),
    (torch.int32, -(2**31)),
]


@pytest.mark.parametrize(("dtype", "value"), FILLS, ids=str)
def test_fills(driver: Driver, dtype: torch.dtype, value: float):
    x = torch.zeros(3, 5, dtype=dtype, device=driver.device)
    run(driver, driver.bind_fill(memory(x), value))
    assert torch.equal(x, torch.full_like(x, value))


def test_a_graph_whose_arguments_change(driver: Driver):
    function = loaded(driver, "scale", 256)
    x, y, z = row(driver), row(driver), row(driver)
    fill = driver.bind_fill(memory(x), 3.0)
    graph = driver.graph([fill, function.bind(SCALE, pointers(x, y))])
    run(driver, graph)
    assert (y == 6).all()
    graph.update(0, driver.bind_fill(memory(x), 4.0))
    graph.update(1, function.bind(SCALE, pointers(x, z)))
    run(driver, graph)
    assert (y == 6).all()
    assert (z == 8).all()


def test_a_stream_of_the_users(driver: Driver):
    if driver.device == "cpu":
        pytest.skip("the simulator has no streams")
    x, y = row(driver), row(driver)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        run(driver, loaded(driver, "scale", 256).bind(SCALE, pointers(x, y)))
    assert torch.equal(y, 2 * x.flip(0))


def test_clusters_have_room(driver: Driver):
    name = target_for(None)
    if not target(name).has_clusters:
        pytest.skip(f"{name} has no clusters")
    source = 'extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(float *y) { y[0] = 1; }'
    function = driver.load(source, name).function("pair", 0)
    clusters = function.clusters(Launch("pair", 4, 32, 0, (), (0,), cluster=2))
    assert clusters is None if driver.name == "simulator" else (clusters or 0) > 0


def test_a_failed_launch_names_its_kernel(driver: Driver):
    x, y = row(driver), row(driver)
    launch = Launch("scale", 1, 2048, 256, (0,), (1,), (), 256)
    with pytest.raises(TilewrightError, match="scale"):
        run(driver, loaded(driver, "scale", 256).bind(launch, pointers(x, y)))


def test_a_kernel_that_fails_is_an_error():
    """
    A trap is an error of its kernel; on a GPU no later call would work, so only the simulator runs.
    """
    driver = SimulatedDriver()
    x, y = row(driver), row(driver)
    launch = Launch("trapping", 1, 1, 0, (0,), (1,))
    with pytest.raises(DriverError, match=r"kernel 'trapping' failed: line .*trap"):
        run(driver, loaded(driver, "trapping").bind(launch, pointers(x, y)))
