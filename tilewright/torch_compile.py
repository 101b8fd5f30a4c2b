# SPDX-License-Identifier: Apache-2.0
"""
The backend of `torch.compile`:

    fast = torch.compile(model, backend="tilewright", options={"target": "sm_90a"})
    with torch.no_grad():
        fast(x)

An installed Tilewright registers it with PyTorch (entry points `torch_dynamo_backends`). Without
installation, pass `backend=tilewright.torch_compile.backend`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tilewright.api import CompiledProgram
from tilewright.codegen.execution import Backend, backend_for, runner
from tilewright.codegen.gpu import target_for
from tilewright.codegen.simulator_backend import check_simulation_size
from tilewright.dialects.precision import Precisions
from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.dynamo import callable_for_graph
from tilewright.frontend.kernels import Run
from tilewright.frontend.pytorch_precision import precisions_named, pytorch_precisions

OPTIONS = ("db", "device", "matmul_precision", "target")


def backend(
    graph: Any,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """
    Return the callable that runs in place of `graph`, a `torch.fx.GraphModule` from Dynamo.

    Options are `db`, `device`, `matmul_precision` and `target`, as for `tilewright.compile`. If no
    precision is given, it follows PyTorch's settings. Compilation and errors are deferred to the
    first call: Dynamo would wrap an error raised here in an error of its own.
    """
    try:
        compiler = _compiler(mode, dict(options or {}))
        return callable_for_graph(graph, compiler, _precisions(options or {}))
    except TilewrightError as err:
        return _raising(err)


def _raising(error: TilewrightError) -> Callable[..., Any]:
    def call(*inputs: Any) -> Any:
        raise error

    return call


def _precisions(options: Mapping[str, Any]) -> Callable[[], Precisions]:
    """
    Return the function that returns the precisions of a call: PyTorch's settings, or those of the
    option.
    """
    if (word := options.get("matmul_precision")) is None:
        return pytorch_precisions
    named = precisions_named(word)
    return lambda: named


def _compiler(mode: str | None, options: dict[str, Any]) -> "_Compiler":
    """
    Return the compiler that the arguments of `torch.compile` configure. Raises `UsageError` for any
    mode, and as `_check_option` does.
    """
    if mode is not None:
        raise UsageError(
            f"the mode '{mode}' is not supported", remedy="every kernel is planned for its sizes"
        )
    for name, value in options.items():
        _check_option(name, value)
    target = target_for(options.get("target"))
    device = backend_for(options.get("device", "auto"), target)
    return _Compiler(target, device, options.get("db", True))


def _check_option(name: object, value: object) -> None:
    """Raise `UsageError` unless the option exists and its value has the right type."""
    if name not in OPTIONS:
        near = get_close_matches(str(name), OPTIONS, 1)
        remedy = f"did you mean '{near[0]}'?" if near else f"options: {', '.join(OPTIONS)}"
        raise UsageError(f"unknown option '{name}' of the backend tilewright", remedy=remedy)
    kinds, words = ((str, bool), "a text or a bool") if name == "db" else ((str,), "a text")
    if not isinstance(value, kinds):
        raise UsageError(f"the option '{name}' is {words}, not {value!r}")


@dataclass(frozen=True)
class _Compiler:
    """Compiler of captured graphs for one device."""

    target: str
    device: Backend
    db: str | bool

    def __call__(self, captured: Captured) -> Run:
        check_simulation_size(self.device, "the graph", captured.module)
        # Keep the plan only: the capture holds the first call's tensors, which must be freed.
        plan = CompiledProgram(captured, self.device, self.target, self.db).plan
        return runner(plan, self.device)
