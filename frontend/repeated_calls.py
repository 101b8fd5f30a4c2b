# SPDX-License-Identifier: Apache-2.0
"""
Tracing of the PyTorch calls that a program repeats, layer by layer, only once.

    for layer in self.layers:            %0 = aten.linear(%x, %w0)    traced
        x = torch.relu(layer(x))         %1 = aten.relu(%0)           traced
                                         %2 = aten.linear(%1, %w1)    copied from %0
                                         %3 = aten.relu(%2)           copied from %1

The user's Python code runs unchanged, in every layer. Only the work of PyTorch below one call of a
function is skipped. It is skipped if an earlier call came from the same lines, with equal numbers
and equal kinds of tensors: the nodes of that call are copied.

Layers are never compared with each other: a layer that reads another attribute, has a hook or
branches otherwise makes different calls.
"""

# pyright: reportPrivateUsage=false

import operator
import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import takewhile
from typing import Any, NamedTuple, cast

from tilewright.frontend.call_by_call import copy_call
from tilewright.frontend.wrapped_forward import forward_within


class _Traced(NamedTuple):
    """Nodes that a call added to the graph, and its results."""

    inputs: Sequence[Any]
    """FX nodes of the tensors that the call took, in order of first use."""
    nodes: Sequence[Any]
    """FX nodes that the call added, in order."""
    results: Sequence[Any]
    """Leaves of the call's result: each is an `_Input`, a `_Made`, or a Python value."""
    structure: Any
    """Nesting of the results, as a pytree."""


class _Input(NamedTuple):
    """Tensor that the call took and returned itself."""

    number: int


class _Made(NamedTuple):
    """Tensor that the call made, with its layout at that time: it may change in place later."""

    node: Any
    view_of: int | None
    """Number of the input tensor whose memory it shares; None if its memory is its own."""
    device: Any
    dtype: Any
    size: Sequence[int]
    stride: Sequence[int]
    offset: int


class _NotPlainError(Exception):
    """
    Exception for a call that takes or returns something besides plain values and tensors of the
    graph.
    """


def repeated_calls(module: Any) -> AbstractContextManager[None]:
    """
    Return a context in which an export of `module` traces equal calls of PyTorch's functions once.
    """
    return forward_within(module, _mode)


def _mode() -> AbstractContextManager[Any]:
    from torch._C import _len_torch_dispatch_stack
    from torch._guards import active_fake_mode
    from torch.fx.experimental.proxy_tensor import get_proxy_mode
    from torch.overrides import TorchFunctionMode

    tracing: Any = get_proxy_mode()
    mode = active_fake_mode()
    if tracing is None or mode is None:
        return nullcontext()
    depth, traced = _len_torch_dispatch_stack(), dict[Hashable, _Traced]()

    class RepeatedCalls(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            is_alone = get_proxy_mode() is tracing and _len_torch_dispatch_stack() == depth
            # A property such as x.shape adds nothing to the graph.
            if getattr(func, "__name__", "__get__") == "__get__" or not is_alone:
                return func(*args, **kwargs)
            call = _Call(tracing.tracer, mode, func, args, kwargs)
            if call.key in traced:
                return call.copied(traced[call.key])
            result = func(*args, **kwargs)
            if call.key is not None and (found := call.recorded(result)) is not None:
                traced[call.key] = found
            return result

    return RepeatedCalls()


class _Call:
    """Call of one of PyTorch's functions during tracing."""

    def __init__(self, tracer: Any, mode: Any, func: Any, args: Any, kwargs: Any):
        import torch

        self._tracer = tracer
        self._mode = mode
        self._given: dict[Any, Any] = {}
        """Tensors among the arguments, by the FX nodes that compute them."""
        self._last = next(iter(reversed(tracer.graph.nodes)), None)
        self.key: Hashable = None
        """
        Key that is equal for calls that trace to equal nodes; None for a call that is not compared.
        """
        if torch.is_grad_enabled() or torch._C._is_any_autocast_enabled():
            return
        with torch._C.DisableTorchFunction(), suppress(_NotPlainError):
            arguments = self._hashable(args), self._hashable(kwargs)
            self.key = func, arguments, _lines(), torch.get_default_dtype()

    def recorded(self, result: Any) -> _Traced | None:
        """
        Return the nodes and results of the call; None if equal calls must not copy them.

        None is the result if a node uses a tensor that is no argument, or writes in place. It is
        also the result if nothing in the call's result is a new tensor, or something in it is no
        plain value.
        """
        import torch
        from torch.utils import _pytree as pytree

        nodes = _nodes_after(self._last, self._tracer.graph)
        known = {*self._given}
        for node in nodes:
            if not _is_plain_call(node) or not known.issuperset(node.all_input_nodes):
                return None
            known.add(node)
        leaves, structure = pytree.tree_flatten(result)
        with torch._C.DisableTorchFunction(), suppress(_NotPlainError):
            results = [self._result(leaf, nodes) for leaf in leaves]
            if nodes and any(isinstance(leaf, _Made) for leaf in results):
                return _Traced([*self._given], nodes, results, structure)
        return None

    def copied(self, traced: _Traced) -> Any:
        """
        Add copies of the nodes of `traced`, an equal call, to the graph; return the result of this
        call.
        """
        import torch
        from torch.utils import _pytree as pytree

        values = dict(zip(traced.inputs, self._given, strict=True))
        stack = self._tracer.module_stack.items()
        modules = {key: (path, _class_name(kind)) for key, (path, kind) in stack}
        for node in traced.nodes:
            values[node] = copy = copy_call(self._tracer.graph, node, values)
            copy.meta = {**node.meta, "nn_module_stack": {**modules}}
        tensors = [*self._given.values()]
        with torch._C.DisableTorchFunction():
            leaves = [self._again(leaf, tensors, values) for leaf in traced.results]
        return pytree.tree_unflatten(leaves, traced.structure)

    def _again(self, leaf: Any, tensors: Sequence[Any], values: Mapping[Any, Any]) -> Any:
        """
        Return one leaf of the copied call's result; a new tensor is registered as one of the
        graph's.
        """
        from torch.fx.experimental.proxy_tensor import _ProxyTensor, set_proxy_slot

        if isinstance(leaf, _Input):
            return tensors[leaf.number]
        if not isinstance(leaf, _Made):
            return leaf
        base = None if leaf.view_of is None else tensors[leaf.view_of]
        tensor = _made(leaf, self._mode, base)
        proxy = self._tracer.proxy(values[leaf.node])
        set_proxy_slot(tensor, self._tracer, _ProxyTensor(proxy, None))
        return tensor

    def _hashable(self, value: Any) -> Hashable:
        """
        Return a key of an argument; equal keys mean equal arguments.

        A tensor's key is its position among the tensors of the call, and its kind: dtype, device,
        layout.
        """
        import torch

        if isinstance(value, torch.Tensor):
            node = self._node_of(value)
            self._given.setdefault(node, value)
            return [*self._given].index(node), _kind(value)
        if isinstance(value, Mapping):
            items = cast(Mapping[str, Any], value).items()
            return tuple((name, self._hashable(item)) for name, item in items)
        if isinstance(value, list | tuple):
            parts = cast(Sequence[Any], value)
            return cast(type, type(parts)), *(self._hashable(part) for part in parts)
        if isinstance(value, slice):
            part = cast(Any, value)
            return slice, self._hashable((part.start, part.stop, part.step))
        return _plain(value)

    def _node_of(self, tensor: Any) -> Any:
        """
        Return the node that computes a tensor. Raises `_NotPlainError` if the tensor is not the
        graph's, or its value is known.
        """
        from torch._subclasses.fake_tensor import FakeTensor

        tracked = self._tracer.tensor_tracker.get(tensor)
        if tracked is None or tracked.constant is not None or not isinstance(tensor, FakeTensor):
            raise _NotPlainError
        return tracked.proxy.node

    def _result(self, leaf: Any, nodes: Sequence[Any]) -> Any:
        import torch

        if not isinstance(leaf, torch.Tensor):
            _plain(leaf)
            return leaf
        node, tensors = self._node_of(leaf), [*self._given.values()]
        if self._given.get(node) is leaf:
            return _Input([*self._given].index(node))
        _kind(leaf)
        if node not in nodes or leaf.requires_grad:
            raise _NotPlainError
        bases = [n for n, tensor in enumerate(tensors) if _memory(tensor) == _memory(leaf)]
        # A tensor that is no view of an input has memory of its own.
        is_known = leaf.dtype == tensors[bases[0]].dtype if bases else not leaf._is_view()
        if not is_known:
            raise _NotPlainError
        layout = tuple(leaf.shape), leaf.stride(), int(leaf.storage_offset())
        return _Made(node, bases[0] if bases else None, leaf.device, leaf.dtype, *layout)


def _made(made: _Made, mode: Any, base: Any | None) -> Any:
    """
    Return a fake tensor with the layout that `made` describes, in memory of its own, or as a view
    of `base`.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    layout = made.size, made.stride
    with torch._C._DisableTorchDispatch(), torch._C._DisablePythonDispatcher():
        if base is None:
            memory = torch.empty_strided(*layout, dtype=made.dtype, device="meta")
        else:
            memory = base.as_strided(*layout, made.offset)
        return FakeTensor(mode, memory, made.device)


def _memory(tensor: Any) -> int:
    return tensor.untyped_storage()._cdata


def _nodes_after(last: Any | None, graph: Any) -> list[Any]:
    """Return the nodes of a graph after `last`, in order; all nodes if `last` is None."""
    return [*takewhile(lambda node: node is not last, reversed(graph.nodes))][::-1]


def _is_plain_call(node: Any) -> bool:
    """
    True if a node calls an operator that writes nothing in place, or takes one of several results.
    """
    from torch._ops import OpOverload

    if node.target is operator.getitem:
        return True
    target = node.target
    return isinstance(target, OpOverload) and not target._schema.is_mutable


def _kind(tensor: Any) -> Hashable:
    import torch

    if tensor.layout is not torch.strided or tensor.is_complex():
        raise _NotPlainError
    memory = *tensor.shape, *tensor.stride(), tensor.storage_offset()
    if not all(type(number) is int for number in memory):
        raise _NotPlainError
    return tensor.dtype, tensor.device, memory, tensor.requires_grad


def _plain(value: Any) -> Hashable:
    """
    Return a plain value as a key with its type, because 1 equals 1.0 and True. Raises
    `_NotPlainError` for other values.
    """
    import torch

    kinds = int, float, bool, str, type(None), type(Ellipsis), torch.dtype, torch.device
    if type(value) not in (*kinds, torch.layout, torch.memory_format):
        raise _NotPlainError
    return type(cast(object, value)), repr(value)


def _class_name(kind: Any) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


def _lines() -> Hashable:
    """
    Return the lines that are running in functions called `forward`; PyTorch records these lines for
    a node.
    """
    lines, frame = list[Any](), sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "forward":
            lines.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)
