# SPDX-License-Identifier: Apache-2.0
"""
A plan's launches and fills as one CUDA graph, a chain of nodes.

If buffers are at other addresses than at the previous call, the arguments of the nodes that use
them are updated. Launches of the graph that are still running keep their arguments. Reference: CUDA
driver API, section "Graph Management".
"""

import ctypes
from collections.abc import Sequence
from typing import Any

from tilewright.codegen.runtime.driver import Bound
from tilewright.codegen.runtime.libcuda import Handle, LibCuda, Sizes


class KernelNode(ctypes.Structure):
    """The C structure CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [
        ("function", Handle),
        ("grid", Sizes),
        ("block", Sizes),
        ("shared_bytes", ctypes.c_uint),
        ("parameters", Handle),
        ("extra", Handle),
        ("kernel", Handle),
        ("context", Handle),
    ]


class MemsetNode(ctypes.Structure):
    """The C structure CUDA_MEMSET_NODE_PARAMS_v1."""

    _fields_ = [
        ("address", Handle),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element_size", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class _Instantiation(ctypes.Structure):
    """The C structure CUDA_GRAPH_INSTANTIATE_PARAMS."""

    _fields_ = [
        ("flags", ctypes.c_ulonglong),
        ("upload_stream", Handle),
        ("error_node", Handle),
        ("result", ctypes.c_int),
    ]


_ADD = {KernelNode: "cuGraphAddKernelNode_v2", MemsetNode: "cuGraphAddMemsetNode"}
_SET = {
    KernelNode: "cuGraphExecKernelNodeSetParams_v2",
    MemsetNode: "cuGraphExecMemsetNodeSetParams",
}


class CudaGraph:
    """
    An instantiated CUDA graph of a list of steps. Errors name the step that the driver refuses.
    """

    def __init__(self, lib: LibCuda, context: Handle, steps: Sequence[Bound]):
        self._lib = lib
        self._context = context
        self._graph, self._exec = Handle(), Handle()
        self._last: Handle | None = None
        self._name = f"the CUDA graph from {steps[0].name} to {steps[-1].name}"
        lib.call(self._name, "cuGraphCreate", ctypes.byref(self._graph), 0)
        self._nodes = [self._add_step(step) for step in steps]
        self._instantiate([step.name for step in steps])

    def update(self, step: int, bound: Bound) -> None:
        # Fills of several rows are refused: "memory operands must be 1-dimensional".
        what = f"{bound.name} in a CUDA graph"
        for node, parameters in zip(self._nodes[step], bound.nodes, strict=True):
            arguments = [
                self._exec,
                node,
                ctypes.byref(parameters),
                *self._extra_arguments(parameters),
            ]
            self._lib.call(what, _SET[type(parameters)], *arguments)

    def __call__(self, stream: int) -> None:
        self._lib.call(self._name, "cuGraphLaunch", self._exec, Handle(stream))

    def __del__(self) -> None:
        if self._exec:
            self._lib.library.cuGraphExecDestroy(self._exec)
        if self._graph:
            self._lib.library.cuGraphDestroy(self._graph)

    def _instantiate(self, names: Sequence[str]) -> None:
        """
        Instantiate the graph. An error names the step whose node the driver refuses, if the driver
        reports the node.
        """
        made, parameters = ctypes.byref(self._exec), _Instantiation()
        function = self._lib.function_named("cuGraphInstantiateWithParams", self._name)
        if not (status := function(made, self._graph, ctypes.byref(parameters))):
            return
        refused = (
            name
            for name, nodes in zip(names, self._nodes, strict=True)
            if parameters.error_node in [node.value for node in nodes]
        )
        name = next(refused, None) if parameters.error_node else None
        self._lib.check(status, self._name if name is None else f"{name} in a CUDA graph")

    def _add_step(self, step: Bound) -> list[Handle]:
        """Add the nodes of a step to the graph and return them."""
        return [self._add_node(node, f"{step.name} in a CUDA graph") for node in step.nodes]

    def _add_node(self, parameters: Any, what: str) -> Handle:
        """Add a node after the last one and return it."""
        node = Handle()
        before = [] if self._last is None else [self._last.value]
        self._lib.call(
            what,
            _ADD[type(parameters)],
            ctypes.byref(node),
            self._graph,
            (Handle * len(before))(*before),
            ctypes.c_size_t(len(before)),
            ctypes.byref(parameters),
            *self._extra_arguments(parameters),
        )
        self._last = node
        return node

    def _extra_arguments(self, parameters: Any) -> tuple[Handle, ...]:
        """
        Return the arguments that follow `parameters` in driver calls for this node: the context for
        fills, none for kernels.
        """
        return (self._context,) if isinstance(parameters, MemsetNode) else ()
