# SPDX-License-Identifier: Apache-2.0
"""A launch plan loaded on a device: called with tensors, it gives tensors."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.runtime.driver import Driver, DriverError, Function
from tilewright.codegen.runtime.tensors import Stream, current_stream, loaders, new_tensor
from tilewright.codegen.runtime.workspace import GRAPH_FROM, Workspace
from tilewright.codegen.target_limits import check_launches


class _Captured(NamedTuple):
    """The workspace of the calls that a user's CUDA graph captures, while it does."""

    key: tuple[int, int]
    """The stream, and the number of the capture."""
    workspace: Workspace


class LoadedPlan:
    """
    A plan's kernels, loaded.

    Calls queue on PyTorch's current stream and return before the GPU is done, as PyTorch's own do.
    Several threads may call at once. `functions` are the kernels, if they are loaded already.
    Raises `DriverError`, and what NVRTC has to say.
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
        self._loaders = loaders(plan, driver.device)
        self._new = [n for n in dict.fromkeys(plan.results) if n >= len(plan.inputs)]
        self._written = sorted(plan.written)
        self._workspaces: dict[int, Workspace] = {}
        self._captured: _Captured | None = None
        self._lock = Lock()
        self.functions = functions or _loaded(plan, driver, target)
        for launch in plan.launches:
            _check_clusters(launch, self.functions[launch.kernel])

    def __call__(self, tensors: Sequence[Any], *, step_by_step: bool = False) -> list[Any]:
        """
        The results for inputs as `plan.inputs` says. No two share memory, with each other or with
        inputs; but what is written in place lies there already, in the tensor that is given. With
        `step_by_step` it waits for each kernel, and errors name the one that failed.
        """
        import torch

        self.plan.check_number(len(tensors))
        stream = current_stream(self.driver.device)
        with torch.no_grad():
            pairs = zip(self._loaders, tensors, strict=True)
            loaded = (loader.load(tensor, stream.is_capturing) for loader, tensor in pairs)
            buffers = dict(enumerate(loaded))
            for number in self._new:
                buffers[number] = new_tensor(self.plan.buffers[number], self.driver.device)
            if self.plan.launches:
                self._launch(buffers, stream, step_by_step)
            for number in self._written:
                torch.autograd.graph.increment_version(buffers[number])
            return self._results(buffers)

    def _launch(self, buffers: dict[int, Any], stream: Stream, step_by_step: bool) -> None:
        addresses = {number: tensor.data_ptr() for number, tensor in buffers.items()}
        self.driver.enter()
        try:
            workspace = self._workspace(*stream)
            with workspace.lock:
                run = workspace.run_step_by_step if step_by_step else workspace.run
                run(addresses, stream.handle)
        except BaseException:
            # Counters may not be as the next call needs them.
            self._workspaces.pop(stream.handle, None)
            self._captured = None
            raise
        finally:
            self.driver.leave()

    def _workspace(self, stream: int, is_capturing: bool) -> Workspace:
        """
        That of a stream. What a user's CUDA graph captures runs when the graph is launched, and may
        run while other calls do: it gets one of its own. Calls that one graph captures on a stream
        follow each other in it; they share theirs, so that what is kept is filled once for all.
        """
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

    def _results(self, buffers: dict[int, Any]) -> list[Any]:
        """The plan's results; copies of those that are inputs that it reads, or results already."""
        given, results = set[int](), list[Any]()
        own = {*self._new, *self._written}
        for number in self.plan.results:
            is_new = number in own and number not in given
            results.append(buffers[number] if is_new else buffers[number].clone())
            given.add(number)
        return results


def _check_clusters(launch: Launch, function: Function) -> None:
    """Raise `DriverError` where the GPU has no room for a cluster of a launch."""
    if launch.cluster > 1 and function.clusters(launch) == 0:
        raise DriverError(
            f"kernel '{launch.kernel}' cannot be launched: no group of multiprocessors of this GPU "
            f"has room for {launch.cluster} of its blocks, a cluster",
            remedy="give it a schedule with smaller clusters",
        )


def _loaded(plan: Plan, driver: Driver, target: str) -> dict[str, Function]:
    """The kernels that a plan launches, by name."""
    if not plan.launches:
        return {}
    texts = kernel_texts(plan.source, plan.dynamic_shared_bytes)
    driver.compile_ahead([*texts.values()], target)
    modules = {text: driver.load(text, target) for text in dict.fromkeys(texts.values())}
    needs = plan.dynamic_shared_bytes.items()
    return {name: modules[texts[name]].function(name, size) for name, size in needs}
