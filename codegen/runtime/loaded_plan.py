# SPDX-License-Identifier: Apache-2.0
"""A launch plan loaded on a device, which is called with tensors and returns tensors."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.runtime.driver import Driver, DriverError, Function
from tilewright.codegen.runtime.tensors import Stream, aligned, current_stream, loaders, maker
from tilewright.codegen.runtime.workspace import GRAPH_FROM, Workspace, new_results
from tilewright.codegen.target_limits import check_launches
from tilewright.dialects.buffer_plan import ALIGNMENT


class _Captured(NamedTuple):
    """Workspace for the calls that the user's CUDA graph is capturing on one stream."""

    key: tuple[int, int]
    """Number of the stream, and number of the capture."""
    workspace: Workspace


class LoadedPlan:
    """
    The loaded kernels of a plan, called like a function.

    A call queues the launches on PyTorch's current stream and returns before the GPU is done, as
    PyTorch's own functions do. Several threads may call at once. `functions` are the kernels, if
    they are loaded already. Raises `DriverError` and NVRTC's errors.
    """

    def __init__(
        self,
        plan: Plan,
        driver: Driver,
        target: str,
        graph_from: int | None = GRAPH_FROM,
        functions: Mapping[str, Function] | None = None,
    ):
        check_launches(plan.launches, target)
        self.plan = plan
        self.driver = driver
        self._graph_from = graph_from
        self._inputs = [(*loader.fit, loader) for loader in loaders(plan, driver.device)]
        new = new_results(plan)
        types = [plan.buffers[number] for number in new]
        self._makers = [(maker(type, driver.device), type) for type in types]
        self._written = sorted(plan.written)
        self._results = _results(plan, [*range(len(plan.inputs)), *new])
        self._workspaces: dict[int, Workspace] = {}
        self._captured: _Captured | None = None
        self._lock = Lock()
        self.functions = functions or _loaded(plan, driver, target)
        for launch in plan.launches:
            _check_clusters(launch, self.functions[launch.kernel])

    def __call__(self, tensors: Sequence[Any], *, step_by_step: bool = False) -> list[Any]:
        """
        Run the plan on inputs that match `plan.inputs`, and return the results.

        Results share no memory with each other or with inputs. The exception is a result that the
        plan writes in place: it is the given tensor. With `step_by_step` the call waits for each
        kernel, so that an error names the kernel that failed.
        """
        if len(tensors) != len(self._inputs):
            self.plan.check_number(len(tensors))
        stream = current_stream(self.driver.device)
        # `Fit.takes`, and functions for the other parts, would cost a call each.
        placed: list[Any] = []
        addresses: list[int] = []
        for tensor, (shape, dtype, device, alignment, loader) in zip(
            tensors, self._inputs, strict=True
        ):
            address = tensor.data_ptr()
            if (
                tensor.shape != shape
                or tensor.dtype is not dtype
                or address % alignment
                or not tensor.is_contiguous()
                or tensor.device != device
                or tensor.is_neg()
            ):
                tensor = loader.copy_of(tensor, stream.is_capturing)
                address = tensor.data_ptr()
            placed.append(tensor)
            addresses.append(address)
        for make, type in self._makers:
            tensor = make()
            address = tensor.data_ptr()
            if address % ALIGNMENT:
                tensor = aligned(tensor, type)
                address = tensor.data_ptr()
            placed.append(tensor)
            addresses.append(address)
        if self.plan.launches:
            self._launch(tuple(addresses), stream, step_by_step)
        if self._written:
            _count_writes([placed[number] for number in self._written])
        results: list[Any] = []
        for at, copied in self._results:
            results.append(placed[at].detach().clone() if copied else placed[at])
        return results

    def _launch(self, addresses: tuple[int, ...], stream: Stream, step_by_step: bool) -> None:
        self.driver.enter()
        try:
            workspace = self._workspace(stream.handle, stream.is_capturing)
            with workspace.lock:
                run = workspace.run_step_by_step if step_by_step else workspace.run
                run(addresses, stream.handle)
        except BaseException:
            # An error may leave counters of kernels in a state that the next call cannot use.
            self._workspaces.pop(stream.handle, None)
            self._captured = None
            raise
        finally:
            self.driver.leave()

    def _workspace(self, stream: int, is_capturing: bool) -> Workspace:
        """
        Return the workspace for a call on a stream.

        Calls captured by a user's CUDA graph run when the graph is launched, perhaps at the same
        time as other calls. They therefore get a workspace of their own. Calls that one graph
        captures on one stream run in order, so they share a workspace, whose kept buffers are
        filled once.
        """
        workspace = self._workspaces.get(stream)
        if workspace is not None and not is_capturing and self._captured is None:
            return workspace  # the common case, without a lock
        with self._lock:
            if is_capturing:
                return self._captured_workspace(stream)
            self._captured = None
            if (workspace := self._workspaces.get(stream)) is None:
                workspace = self._new_workspace(stream, self._graph_from)
                self._workspaces[stream] = workspace
            return workspace

    def _captured_workspace(self, stream: int) -> Workspace:
        key = (stream, self.driver.capture(stream))
        if self._captured is None or self._captured.key != key:
            self._captured = _Captured(key, self._new_workspace(stream, graph_from=None))
        return self._captured.workspace

    def _new_workspace(self, stream: int, graph_from: int | None) -> Workspace:
        return Workspace(self.plan, self.functions, self.driver, stream, graph_from)


def _results(plan: Plan, placed: Sequence[int]) -> list[tuple[int, bool]]:
    """
    Return for each result its position in `placed`, the buffers of a call, and True if the result
    must be copied.

    A result is copied if it is an input that is only read, or if an earlier result is the same
    buffer.
    """
    taken, results = set[int](), list[tuple[int, bool]]()
    for number in plan.results:
        is_own = number >= len(plan.inputs) or number in plan.written
        results.append((placed.index(number), not is_own or number in taken))
        taken.add(number)
    return results


def _count_writes(tensors: Sequence[Any]) -> None:
    """
    Increment the version counters of tensors that kernels have written, as PyTorch does for its own
    writes.
    """
    import torch

    for tensor in tensors:
        torch.autograd.graph.increment_version(tensor)


def _check_clusters(launch: Launch, function: Function) -> None:
    """Raise `DriverError` if the GPU has no room for even one cluster of a launch."""
    if launch.cluster > 1 and function.clusters(launch) == 0:
        raise DriverError(
            f"kernel '{launch.kernel}' cannot be launched: no group of multiprocessors of this GPU "
            f"has room for a cluster of {launch.cluster} of its blocks",
            remedy="give it a schedule with smaller clusters",
        )


def _loaded(plan: Plan, driver: Driver, target: str) -> dict[str, Function]:
    """Compile and load the kernels that a plan launches; return them by name."""
    if not plan.launches:
        return {}
    texts = kernel_texts(plan.source, plan.dynamic_shared_bytes)
    driver.compile_ahead([*texts.values()], target)
    modules = {text: driver.load(text, target) for text in dict.fromkeys(texts.values())}
    needs = plan.dynamic_shared_bytes.items()
    return {name: modules[texts[name]].function(name, size) for name, size in needs}
