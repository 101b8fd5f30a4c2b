# SPDX-License-Identifier: Apache-2.0
"""
The driver `pycuda`, which loads and launches kernels through pycuda.

Three things use the driver API instead, for which the same kernels are loaded twice. The first is
graphs. The second is launches with tensor maps, because pycuda packs parameters without the padding
before a map. The third is launches on streams that pycuda has not made, as all streams of PyTorch
except the default one. Both copies are loaded at the start, because loading is impossible while a
CUDA graph is captured.

Reference: https://documen.tician.de/pycuda/driver.html.
"""

from collections.abc import Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import Any

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.runtime.cuda_driver import CudaDriver, CudaModule
from tilewright.codegen.runtime.cuda_launch import CudaLaunch, Parameters
from tilewright.codegen.runtime.driver import Arguments, Bound, DriverError, Module


class PycudaLaunch:
    """A launch with its parameters, through pycuda."""

    def __init__(self, function: "PycudaFunction", launch: Launch, parameters: Parameters):
        self.name = f"kernel '{launch.kernel}'"
        self._launch = launch
        self._function = function
        self._parameters = parameters
        self._call = partial(
            function.function._launch_kernel,
            (launch.grid, 1, 1),
            (launch.block, 1, 1),
            parameters.packed,
            launch.dynamic_shared_bytes,
        )

    def __call__(self, stream: int) -> None:
        if stream:
            return self._driver_launch(stream)
        try:
            self._call(None)
        except self._function.error:
            self._driver_launch(0)  # its errors are more precise

    @property
    def nodes(self) -> Sequence[Any]:
        return self._driver_launch.nodes

    @cached_property
    def _driver_launch(self) -> CudaLaunch:
        """Return this launch as one through the driver API, which has loaded the same kernel."""
        handle = self._function.twin.handle
        return CudaLaunch(self._function.driver.lib, handle, self._launch, self._parameters)


class PycudaFunction:
    """A kernel, loaded by pycuda and by the driver API."""

    def __init__(self, module: "PycudaModule", name: str, dynamic_shared_bytes: int):
        self.driver = module.driver
        self._what = f"kernel '{name}'"
        self.error = module.cuda.Error
        self.twin = module.twin.function(name, dynamic_shared_bytes)
        """This kernel, loaded by the driver API."""
        try:
            with self.driver.current():
                self.function = self._load_function(module, name, dynamic_shared_bytes)
        except self.error as err:
            raise DriverError(f"{self._what}: {err}") from None

    @staticmethod
    def _load_function(module: "PycudaModule", name: str, dynamic_shared_bytes: int) -> Any:
        function = module.module.get_function(name)
        if dynamic_shared_bytes:
            attribute = module.cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            function.set_attribute(attribute, dynamic_shared_bytes)
        return function

    @property
    def registers(self) -> int:
        with self.driver.current():
            return self.function.num_regs

    @property
    def local_bytes(self) -> int:
        with self.driver.current():
            return self.function.local_size_bytes

    def clusters(self, launch: Launch) -> int | None:
        return self.twin.clusters(launch)

    def blocks_per_sm(self, launch: Launch) -> int | None:
        return self.twin.blocks_per_sm(launch)

    def bind(self, launch: Launch, arguments: Arguments) -> Bound:
        if arguments.maps:
            return self.twin.bind(launch, arguments)
        return PycudaLaunch(self, launch, self.driver.parameters(arguments, self._what))


class PycudaModule:
    """A cubin, loaded by pycuda and by the driver API."""

    def __init__(self, driver: "PycudaDriver", cubin: bytes):
        self.driver = driver
        self.cuda = driver.cuda
        self.twin = CudaModule(driver, cubin)  # first: its errors are more precise
        try:
            self.module = driver.cuda.module_from_buffer(cubin)
        except driver.cuda.Error as err:
            raise DriverError(f"the kernels cannot be loaded: {err}") from None

    def function(self, name: str, dynamic_shared_bytes: int) -> PycudaFunction:
        return PycudaFunction(self, name, dynamic_shared_bytes)


class PycudaDriver(CudaDriver):
    """The GPU with number `ordinal`, through pycuda, in the context that PyTorch uses."""

    name = "pycuda"

    @cached_property
    def cuda(self) -> Any:
        """The module `pycuda.driver`, initialised."""
        module: Any = import_module("pycuda.driver")
        module.init()
        return module

    def _loaded(self, cubin: bytes) -> Module:
        context = self.cuda.Device(self.ordinal).retain_primary_context()
        context.push()  # pycuda makes only its own contexts current
        try:
            return PycudaModule(self, cubin)
        finally:
            context.pop()


def is_importable() -> bool:
    """True if pycuda and the driver's library are installed, and pycuda can be imported."""
    try:
        import_module("pycuda.driver")
    except Exception:  # a pycuda for another NumPy or driver fails with exceptions of its own
        return False
    return True
