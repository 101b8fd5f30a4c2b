# SPDX-License-Identifier: Apache-2.0
"""A launch plan loaded on a device: called with tensors, it gives tensors."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.runtime.driver import Driver, DriverError, Function
from tilewright.codegen.runtime.tensors import Stream, current_stream, loaders, maker
from tilewright.codegen.runtime.workspace import GRAPH_FROM, Workspace, new_results
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
        new = new_results(plan)
        self._makers = [maker(plan.buffers[number], driver.device) for number in new]
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
        Return the results for inputs as `plan.inputs` says. No two share memory, with each other or
        with inputs; but what is written in place lies there already, in the tensor that is given.
        With `step_by_step` it waits for each kernel, and errors name the one that failed.
        """
        if len(tensors) != len(self._loaders):
            self.plan.check_number(len(tensors))
        stream = current_stream(self.driver.device)
        placed: list[Any] = []  # by loops: a comprehension costs a call in Python 3.11
        for loader, tensor in zip(self._loaders, tensors, strict=True):
            placed.append(loader.load(tensor, stream.is_capturing))
        for make in self._makers:
            placed.append(make())
        if self.plan.launches:
            addresses = tuple([tensor.data_ptr() for tensor in placed])
            self._launch(addresses, stream, step_by_step)
        if self._written:
            _count_writes([placed[number] for number in self._written])
        return [
            placed[at].detach().clone() if copied else placed[at] for at, copied in self._results
        ]

    def _launch(self, addresses: tuple[int, ...], stream: Stream, step_by_step: bool) -> None:
        self.driver.enter()
        try:
            workspace = self._workspace(stream.handle, stream.is_capturing)
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
        workspace = self._workspaces.get(stream)
        if workspace is not None and not is_capturing and self._captured is None:
            return workspace  # as nearly always, without a lock
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
    For each result its position among the buffers that are placed at each call, and whether it is
    copied: an input that is only read, and what is a result already.
    """
    taken, results = set[int](), list[tuple[int, bool]]()
    for number in plan.results:
        is_own = number >= len(plan.inputs) or number in plan.written
        results.append((placed.index(number), not is_own or number in taken))
        taken.add(number)
    return results


def _count_writes(tensors: Sequence[Any]) -> None:
    """Count a change of each, as PyTorch does where it writes."""
    import torch

    for tensor in tensors:
        torch.autograd.graph.increment_version(tensor)


def _check_clusters(launch: Launch, function: Function) -> None:
    """Raise `DriverError` where the GPU has no room for a cluster of a launch."""
    if launch.cluster > 1 and function.clusters(launch) == 0:
        raise DriverError(
            f"kernel '{launch.kernel}' cannot be launched: no group of multiprocessors of this GPU "
            f"has room for {launch.cluster} of its blocks, a cluster",
            remedy="give it a schedule with smaller clusters",
        )


def _loaded(plan: Plan, driver: Driver, target: str) -> dict[str, Function]:
    """Return the kernels that a plan launches, by name."""
    if not plan.launches:
        return {}
    texts = kernel_texts(plan.source, plan.dynamic_shared_bytes)
    driver.compile_ahead([*texts.values()], target)
    modules = {text: driver.load(text, target) for text in dict.fromkeys(texts.values())}
    needs = plan.dynamic_shared_bytes.items()
    return {name: modules[texts[name]].function(name, size) for name, size in needs}
