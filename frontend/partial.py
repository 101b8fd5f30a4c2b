# SPDX-License-Identifier: Apache-2.0
"""
Compilation of a part of a graph: the operators that the compiler does not support run in PyTorch.

    relu(x @ w) -> topk -> exp        part_0, aten.topk, part_1

`CapabilityBasedPartitioner` of `torch.fx` finds the parts, each as large as possible.
"""

import copy
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.dialects.element_types import DTYPES
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.aten import dtype_name, op_of_call
from tilewright.frontend.capture import capture
from tilewright.frontend.dynamo_graph import hold
from tilewright.frontend.fold import drop_assertions, independent_of_inputs
from tilewright.frontend.kernels import Compile, Kernels, sources_of
from tilewright.frontend.numbers import numbers_to_tensors
from tilewright.frontend.output_views import is_view
from tilewright.frontend.refusals import tensors_of
from tilewright.frontend.unsupported import refusal_of

State = Mapping[str, tuple[str, Any]]
"""Parameters and buffers among a graph's inputs, by name: their paths and tensors."""


def compile_parts(
    exported: Any, state: State, compile: Compile, report: Callable[[str], None]
) -> Any:
    """
    Return a GraphModule that computes what the exported program computes, with kernels for all
    parts that can be compiled.

    `report` is called with the reason for each part that lowering refuses.
    """
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

    numbers_to_tensors(exported)
    drop_assertions(exported.graph)
    support: Any = _Support(exported)
    partitioner = CapabilityBasedPartitioner(exported.graph_module, support, True)
    parts = [p for p in partitioner.propose_partitions() if not all(map(is_view, p.nodes))]
    whole = partitioner.fuse_partitions(parts, prefix="part_")
    for call in whole.graph.find_nodes(op="call_module"):
        part = whole.get_submodule(call.target)
        compiled = _compiled(part, call.args, state, compile, report)
        whole.set_submodule(call.target, compiled)
    return whole


def _compiled(
    part: Any, args: Sequence[Any], state: State, compile: Compile, report: Callable[[str], None]
) -> Any:
    """Return a part as a module of kernels, or the part itself if lowering refuses it."""
    from torch import nn

    inputs = [state[a.name][1] if a.name in state else _placed(a.meta["val"]) for a in args]
    paths = {n: state[a.name][0] for n, a in enumerate(args) if a.name in state}
    try:
        ready = hold(_copy(part), paths, inputs)
        captured = capture(ready.module, ready.call_of(inputs))
        sources = sources_of(captured.exported, ready.state, ready.arguments)
        kernels = Kernels(captured, sources, compile)
    except (UnsupportedError, UsageError) as err:
        report(str(err))
        return part
    returns_tuple = isinstance(part.graph.output_node().args[0], tuple | list)
    module: Any = nn.Module()
    module.forward = kernels if returns_tuple else _first_of(kernels)
    return module


def _placed(tensor: Any) -> Any:
    """
    Return an input's tensor, or a new tensor of its shape and strides if its storage offset is
    unknown.

    A view at a number that the graph reads from a tensor has an offset that is only known at run
    time.
    """
    if isinstance(tensor.storage_offset(), int):
        return tensor
    return tensor.new_empty_strided(tensor.shape, tensor.stride())


def _first_of(kernels: Kernels) -> Callable[..., Any]:
    def forward(*inputs: Any) -> Any:
        return kernels(*inputs)[0]

    return forward


def _copy(part: Any) -> Any:
    """Return a copy of the GraphModule `part` with nodes of its own."""
    from torch.fx import GraphModule

    return GraphModule(part, copy.deepcopy(part.graph))


class _Support:
    """Operator support for the partitioner: it decides which nodes of a graph can be compiled."""

    def __init__(self, exported: Any):
        self._free = independent_of_inputs(exported.graph, {})
        """Nodes that depend on no input: capture evaluates them, whatever their operator."""

    def is_node_supported(self, submodules: Mapping[str, Any], node: Any) -> bool:
        """True if the compiler supports a node's operator, and the tensors it takes and returns."""
        if node.op != "call_function":
            return False
        if node.target is operator.getitem:
            return self.is_node_supported(submodules, node.args[0])
        if node not in self._free and op_of_call(node.target, node.args) is None:
            return False
        return refusal_of(node) is None and all(map(_is_known, (node, *node.all_input_nodes)))


def _is_known(node: Any) -> bool:
    """True if a node's tensors are dense, with known sizes and dtypes of the dialect."""
    import torch

    tensors = tensors_of(node.meta.get("val"))
    return bool(tensors) and all(
        tensor.layout is torch.strided
        and dtype_name(tensor.dtype) in DTYPES
        and all(isinstance(size, int) for size in tensor.shape)
        for tensor in tensors
    )
