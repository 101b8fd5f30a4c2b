# SPDX-License-Identifier: Apache-2.0
"""
A plan's launches and fills as one CUDA graph, a chain of nodes.

When memory lies elsewhere than at the call before, the arguments of the nodes that use it are set
anew; graph launches that are still running keep theirs.
Reference: CUDA driver API, section "Graph Management".
"""

import ctypes
from collections.abc import Sequence
from typing import Any

from tilewright.codegen.runtime.driver import Bound
from tilewright.codegen.runtime.libcuda import Handle, LibCuda

Sizes = ctypes.c_uint * 3


class KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2"""

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
    """CUDA_MEMSET_NODE_PARAMS_v1"""

    _fields_ = [
        ("address", Handle),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element_size", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


_ADD = {KernelNode: "cuGraphAddKernelNode_v2", MemsetNode: "cuGraphAddMemsetNode"}
_SET = {
    KernelNode: "cuGraphExecKernelNodeSetParams_v2",
    MemsetNode: "cuGraphExecMemsetNodeSetParams",
}


class CudaGraph:
    """The graph of a list of steps, ready to be launched."""

    def __init__(self, lib: LibCuda, context: Handle, steps: Sequence[Bound]):
        self._lib = lib
        self._context = context
        self._graph, self._exec = Handle(), Handle()
        self._last: Handle | None = None
        lib.call("a CUDA graph", "cuGraphCreate", ctypes.byref(self._graph), 0)
        self._nodes = [[self._added(node) for node in step.nodes] for step in steps]
        lib.call(
            "a CUDA graph",
            "cuGraphInstantiateWithFlags",
            ctypes.byref(self._exec),
            self._graph,
            ctypes.c_ulonglong(0),
        )

    def update(self, step: int, bound: Bound) -> None:
        # Fills of several rows are refused: "memory operands must be 1-dimensional".
        for node, parameters in zip(self._nodes[step], bound.nodes, strict=True):
            arguments = [self._exec, node, ctypes.byref(parameters), *self._more(parameters)]
            self._lib.call("a node of a CUDA graph", _SET[type(parameters)], *arguments)

    def __call__(self, stream: int) -> None:
        self._lib.call("a CUDA graph", "cuGraphLaunch", self._exec, Handle(stream))

    def __del__(self) -> None:
        if self._exec:
            self._lib.library.cuGraphExecDestroy(self._exec)
        if self._graph:
            self._lib.library.cuGraphDestroy(self._graph)

    def _added(self, parameters: Any) -> Handle:
        """A node that comes after the one that was added last."""
        node = Handle()
        before = [] if self._last is None else [self._last.value]
        self._lib.call(
            "a node of a CUDA graph",
            _ADD[type(parameters)],
            ctypes.byref(node),
            self._graph,
            (Handle * len(before))(*before),
            ctypes.c_size_t(len(before)),
            ctypes.byref(parameters),
            *self._more(parameters),
        )
        self._last = node
        return node

    def _more(self, parameters: Any) -> tuple[Handle, ...]:
        """What fills need besides: the context that they run in."""
        return (self._context,) if isinstance(parameters, MemsetNode) else ()
