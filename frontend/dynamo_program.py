# SPDX-License-Identifier: Apache-2.0
"""
Graph from Dynamo, compiled for one kind of inputs.

Kernels only compute new tensors from tensors. The rest happens here at each call: inputs that the
graph writes in place are written, and outputs that are views are made from their bases.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.frontend.capture import capture_exported
from tilewright.frontend.dynamo_graph import ReadyGraph, in_pytorch, ready
from tilewright.frontend.export import export
from tilewright.frontend.fold import drop_assertions
from tilewright.frontend.kernels import Compile, Kernels, Source, sources_of, take
from tilewright.frontend.output_views import Value, View, separate_views
from tilewright.frontend.partial import compile_parts
from tilewright.frontend.warnings_once import warn_once
from tilewright.frontend.written_inputs import is_output, share_memory

Compute = Callable[..., Sequence[Any]]
"""
Function from a graph's inputs to the new values of the inputs that it writes, and the bases of its
outputs.
"""


@dataclass(frozen=True)
class Program:
    """Compiled graph; inputs are those of the graph, by position."""

    graph: Any
    compute: Compute
    written: list[int]
    """Positions of the inputs that are written in place."""
    outputs: list[View | Value]
    bases: Mapping[str, Source]
    """Inputs that outputs are views of, by name."""
    structure: Any
    """Nesting of the outputs, as PyTorch's `TreeSpec`."""

    def __call__(self, *inputs: Any) -> Any:
        """Return the graph's outputs for `inputs`; inputs that it writes in place are written."""
        import torch
        from torch.utils import _pytree as pytree

        if self.written and share_memory(inputs, self.written):
            warn_once("a graph runs in PyTorch: it writes an input that shares memory")
            return in_pytorch(self.graph)(*inputs)
        with torch.no_grad():
            results = self.compute(*inputs)
            for position, result in zip(self.written, results, strict=False):
                inputs[position].copy_(result)
            bases = {name: take(source, inputs) for name, source in self.bases.items()}
            outputs = [output.of(bases, results) for output in self.outputs]
        return pytree.tree_unflatten(outputs, self.structure)


def program_of(graph: Any, inputs: Sequence[Any], compile: Compile) -> Program:
    """
    Compile a graph from Dynamo for inputs like `inputs`, and return it. Inputs that Dynamo wraps in
    tensors, because they are Python numbers, are given as numbers.

    Raises `UnsupportedError` or `UsageError` where the graph cannot even be compiled in part.
    """
    made_ready = ready(graph, inputs)
    try:
        return _whole(graph, made_ready, inputs, compile)
    except _NotWhole as err:
        return _in_part(graph, made_ready, inputs, compile, str(err))


class _NotWhole(Exception):
    """Exception that carries the reason why a graph cannot be compiled as a whole."""


def _whole(graph: Any, ready: ReadyGraph, inputs: Sequence[Any], compile: Compile) -> Program:
    try:
        exported = export(ready.module, ready.call_of(inputs), {})
        around = _around(graph, ready, exported)
        results = exported.graph.output_node().args[0]
        drop_assertions(exported.graph)
        computes = results or _has_effects(exported.graph)
        captured = capture_exported(exported) if computes else None
    except UnsupportedError as err:
        raise _NotWhole(str(err)) from err
    if captured is None:
        return Program(graph, _nothing, *around)
    sources = sources_of(captured.exported, ready.state, ready.arguments)
    return Program(graph, Kernels(captured, sources, compile), *around)


def _has_effects(graph: Any) -> bool:
    """True if a graph calls a function for its effect, for example to check a condition."""
    return any(node.op == "call_function" and node.is_impure() for node in graph.nodes)


def _nothing(*inputs: Any) -> list[Any]:
    """Return no tensors: the computation of a graph whose outputs are all views of its inputs."""
    return []


def _in_part(
    graph: Any, ready: ReadyGraph, inputs: Sequence[Any], compile: Compile, reason: str
) -> Program:
    exported = export(ready.module, ready.call_of(inputs), {}, partly=True)
    around = _around(graph, ready, exported)
    sources = sources_of(exported, ready.state, ready.arguments)
    specs = exported.graph_signature.input_specs
    state = {
        spec.arg.name: (spec.target, inputs[ready.state[spec.target]])
        for spec in specs
        if spec.target in ready.state
    }
    parts = compile_parts(exported, state, compile, warn_once)
    what = "part of a graph" if parts.graph.find_nodes(op="call_module") else "a graph"
    warn_once(f"{what} runs in PyTorch: {reason}")
    run = in_pytorch(parts)

    def compute(*inputs: Any) -> Sequence[Any]:
        return run(*(take(source, inputs) for source in sources.values()))

    return Program(graph, compute, *around)


def _around(
    graph: Any, ready: ReadyGraph, exported: Any
) -> tuple[list[int], list[View | Value], dict[str, Source], Any]:
    """
    Return the fields `written`, `outputs`, `bases` and `structure` of the `Program` of a graph.

    The exported graph is changed in place: it then returns only the tensors that kernels compute.
    """
    sources = sources_of(exported, ready.state, ready.arguments)
    structure = exported.call_spec.out_spec

    def is_input(output: int, name: str) -> bool:
        return is_output(graph, output, sources[name])

    names, outputs = separate_views(exported, is_input)
    written = [sources[name] for name in names]
    bases = {o.base for o in outputs if isinstance(o, View) and isinstance(o.base, str)}
    return written, outputs, {name: sources[name] for name in sorted(bases)}, structure
