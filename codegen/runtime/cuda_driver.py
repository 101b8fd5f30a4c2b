# SPDX-License-Identifier: Apache-2.0
"""The driver `libcuda`, which loads and launches kernels through the driver API alone."""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import Launch, MapOf
from tilewright.codegen.runtime.cubin_cache import CubinCache
from tilewright.codegen.runtime.cuda_graph import CudaGraph
from tilewright.codegen.runtime.cuda_launch import CudaFill, CudaLaunch, Parameters
from tilewright.codegen.runtime.driver import Arguments, Bound, DriverError, Memory, Module
from tilewright.codegen.runtime.fill_pattern import words_of
from tilewright.codegen.runtime.libcuda import (
    LOCAL_BYTES,
    MAX_DYNAMIC_SHARED_BYTES,
    REGISTERS,
    Handle,
    LibCuda,
    libcuda,
)

_MOST_MAPS = 1024
"""Maximum number of encoded tensor maps that are cached."""


class CudaFunction:
    """A loaded kernel."""

    def __init__(self, driver: "CudaDriver", handle: Handle, name: str):
        self.handle = handle
        self._driver = driver
        self._what = f"kernel '{name}'"

    @property
    def registers(self) -> int:
        return self._attribute(REGISTERS)

    @property
    def local_bytes(self) -> int:
        return self._attribute(LOCAL_BYTES)

    def clusters(self, launch: Launch) -> int | None:
        with self._driver.current():
            return self._driver.lib.active_clusters(self.handle, launch)

    def blocks_per_sm(self, launch: Launch) -> int | None:
        with self._driver.current():
            return self._driver.lib.active_blocks(self.handle, launch)

    def bind(self, launch: Launch, arguments: Arguments) -> Bound:
        given = self._driver.parameters(arguments, self._what)
        return self._driver.bind_launch(self.handle, launch, given)

    def _attribute(self, attribute: int) -> int:
        with self._driver.current():
            return self._driver.lib.attribute(self.handle, attribute, self._what)


class CudaModule:
    """A loaded cubin."""

    def __init__(self, driver: "CudaDriver", cubin: bytes):
        self._driver = driver
        self._handle = driver.lib.load(cubin, nvrtc.version())

    def function(self, name: str, dynamic_shared_bytes: int) -> CudaFunction:
        with self._driver.current():
            return CudaFunction(self._driver, self._handle_of(name, dynamic_shared_bytes), name)

    def _handle_of(self, name: str, dynamic_shared_bytes: int) -> Handle:
        lib = self._driver.lib
        handle = lib.function(self._handle, name)
        if dynamic_shared_bytes:
            what = f"kernel '{name}' with {dynamic_shared_bytes} bytes of dynamic shared memory"
            lib.set_attribute(handle, MAX_DYNAMIC_SHARED_BYTES, dynamic_shared_bytes, what)
        return handle


class CudaDriver:
    """
    The GPU with number `ordinal`, through `libcuda.so.1`, in the context that PyTorch uses.

    `device` is PyTorch's name of the GPU's memory.
    """

    name = "libcuda"

    def __init__(
        self,
        ordinal: int = 0,
        lib: LibCuda | None = None,
        cache: CubinCache | None = None,
        device: str | None = None,
    ):
        self.lib = lib or libcuda()
        self.ordinal = ordinal
        self.device = device or f"cuda:{ordinal}"
        self._context = self.lib.primary_context(ordinal)
        # each call needs both, and ctypes needs time to look up a function and to convert a number
        context = "the GPU's context"
        push = self.lib.function_named("cuCtxPushCurrent_v2", context)
        pop = self.lib.function_named("cuCtxPopCurrent_v2", context)
        self._push: Callable[[], int] = partial(push, self._context)
        self._pop: Callable[[], int] = partial(pop, ctypes.byref(Handle()))
        self._cache = cache or CubinCache()
        self._maps: OrderedDict[tuple[MapOf, Memory], bytes] = OrderedDict()

    def load(self, source: str, target: str) -> Module:
        cubin = self._cache.cubin(source, target)
        with self.current():
            return self._loaded(cubin)

    def compile_ahead(self, sources: Sequence[str], target: str) -> None:
        self._cache.cubins(sources, target)

    def _loaded(self, cubin: bytes) -> Module:
        return CudaModule(self, cubin)

    def bind_launch(self, function: Handle, launch: Launch, given: Parameters) -> Bound:
        """Return a launch of `function` with the parameters `given`."""
        return CudaLaunch(self.lib, function, launch, given)

    def bind_fill(self, memory: Memory, value: float | int, name: str = "a fill") -> CudaFill:
        return CudaFill(self.lib, words_of(memory, value), name)

    def graph(self, steps: Sequence[Bound]) -> CudaGraph:
        return CudaGraph(self.lib, self._context, steps)

    def enter(self) -> None:
        if status := self._push():
            self.lib.check(status, "the GPU's context")

    def leave(self) -> None:
        if status := self._pop():
            self.lib.check(status, "the GPU's context")

    @contextmanager
    def current(self) -> Generator[None]:
        """
        Make the device's context current in this thread during the `with`; calls on modules need
        it.
        """
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def capture(self, stream: int) -> int:
        return self.lib.capture(stream)

    def synchronize(self, stream: int) -> None:
        if status := self.lib.library.cuStreamSynchronize(Handle(stream)):
            raise DriverError(self.lib.status_text(status))

    def parameters(self, arguments: Arguments, what: str) -> Parameters:
        """Return the parameters of a launch with these arguments; errors call the launch `what`."""
        maps = [self._encoded(*map, what) for map in arguments.maps]
        memory = (*arguments.inputs, *arguments.outputs)
        return Parameters(maps, [each.address for each in memory])

    def _encoded(self, map: MapOf, memory: Memory, what: str) -> bytes:
        """
        Return a tensor map over `memory`, encoded by the driver. The encodings that were made last
        are cached.
        """
        key = (map, memory)
        if (encoded := self._maps.get(key)) is None:
            encoded = self._maps[key] = self.lib.encoded(map, memory, what)
            if len(self._maps) > _MOST_MAPS:
                self._maps.popitem(last=False)
        return encoded
