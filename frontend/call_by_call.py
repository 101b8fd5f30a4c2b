# SPDX-License-Identifier: Apache-2.0
"""
Decomposition of a program call by call.

    %a = aten.linear(%x, %w)                 %a = aten.linear(%x, %w)
    %b = aten.reshape(%a, [4, 8])     ->     %b = aten.view(%a, [4, 8])
    %c = aten.relu(%b)                       %c = aten.relu(%b)

`run_decompositions` traces a whole program again, although most of its calls stay unchanged.
`call_by_call` traces only the calls that change. Calls with equal operators, arguments and kinds of
tensors are traced once. One small program holds all of them side by side, and `run_decompositions`
breaks it down.

The result is equal if calls depend on each other only by their results. Where they may depend by
more, for example by in-place writes, `call_by_call` returns None, and PyTorch breaks down the whole
program.
"""

# pyright: reportPrivateUsage=false

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, cast

from tilewright.frontend.aten import defined_ops
from tilewright.frontend.refusals import tensors_of

RunDecompositions = Callable[[Any], Any]
"""Function that breaks down an `ExportedProgram` by PyTorch's own means."""


class _Broken(NamedTuple):
    """Calls that one call breaks down into."""

    inputs: Sequence[Any]
    """FX nodes of the tensors that the broken-down call takes, in order."""
    calls: Sequence[Any]
    """FX nodes in order, each of which calls an operator."""
    results: Sequence[Any]
    """FX nodes that hold the results of the broken-down call, from `inputs` or `calls`."""


_broken: dict[Hashable, _Broken] = {}
"""Cache of broken-down calls of this and earlier programs, by the key that `_key` returns."""

_MOST_BROKEN = 10_000


def call_by_call(exported: Any, run_decompositions: RunDecompositions) -> Any | None:
    """
    Return an `ExportedProgram` broken down as `run_decompositions` does; None if calls may depend
    on each other by more than their results, or if autocast is on.
    """
    from torch._C import _is_any_autocast_enabled

    # Autocast converts operands during tracing, also of operators that are kept.
    if _is_any_autocast_enabled() or not _is_functional(exported):
        return None
    calls = {_key(n): n for n in exported.graph.nodes if n.op == "call_function" and not _stays(n)}
    if len(_broken) > _MOST_BROKEN:
        _broken.clear()
    if (new := {key: node for key, node in calls.items() if key not in _broken}) and not _learn(
        new, run_decompositions
    ):
        return None
    return _rewritten(exported)


def _is_functional(exported: Any) -> bool:
    """
    True if all calls are ATen's, none writes in place, and all values are tensors whose sizes are
    numbers.
    """
    from torch._ops import OpOverload
    from torch.export.graph_signature import InputKind, OutputKind

    kinds = (InputKind.USER_INPUT, InputKind.PARAMETER, InputKind.BUFFER)
    signature = exported.graph_signature
    if not all(s.kind in (*kinds, InputKind.CONSTANT_TENSOR) for s in signature.input_specs):
        return False
    if not all(spec.kind is OutputKind.USER_OUTPUT for spec in signature.output_specs):
        return False
    for node in exported.graph.nodes:
        if node.op in ("placeholder", "output") or node.target is operator.getitem:
            continue
        target = node.target
        if node.op != "call_function" or not isinstance(target, OpOverload):
            return False
        if target.namespace != "aten" or target._schema.is_mutable or _is_open(node):
            return False
    return True


def _is_open(node: Any) -> bool:
    """True if the value of a node is not one or several tensors whose sizes are numbers."""
    import torch

    if node.target is torch.ops.aten._assert_tensor_metadata.default:
        return False
    tensors = tensors_of(node.meta.get("val"))
    return not tensors or not all(isinstance(n, int) for t in tensors for n in t.shape)


def _stays(node: Any) -> bool:
    return node.target is operator.getitem or _is_kept(node.target)


@cache
def _is_kept(target: Any) -> bool:
    """
    True if `run_decompositions` leaves calls of an operator unchanged.

    The dialect must define the operator, and PyTorch must not break it down itself: neither as a
    composite whose result may be a view, nor in Python, as it does softshrink.
    """
    import torch
    from torch._C import DispatchKey
    from torch._export.utils import _is_cia_op, _is_preservable_cia_op

    if target is torch.ops.aten._assert_tensor_metadata.default:
        return True
    if target not in defined_ops() or target is torch.ops.aten.lift_fresh_copy.default:
        return False
    if _is_cia_op(target):
        return _is_preservable_cia_op(target)
    return DispatchKey.Autograd not in target.py_kernels


def _key(node: Any) -> Hashable:
    """Return a cache key of a call; calls with equal keys break down into equal calls."""
    numbers = {source: number for number, source in enumerate(node.all_input_nodes)}
    kinds = tuple(_kind(source.meta["val"]) for source in numbers)
    return node.target, _hashable((node.args, node.kwargs), numbers), kinds


def _hashable(value: Any, numbers: Mapping[Any, int]) -> Hashable:
    """
    Return an argument in hashable form, with its type, because 1 equals 1.0 and True. `numbers`
    numbers the FX nodes.
    """
    if _is_node(value):
        return "node", numbers[value]
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return tuple((name, _hashable(item, numbers)) for name, item in items)
    if isinstance(value, list | tuple):
        return tuple(_hashable(item, numbers) for item in cast(Sequence[Any], value))
    return type(cast(object, value)), repr(value)


def _is_node(value: Any) -> bool:
    from torch.fx import Node

    return isinstance(value, Node)


def _kind_of(node: Any) -> Hashable:
    return _kind(node.meta["val"]) if _is_node(node) else None


def _kind(tensor: Any) -> Hashable:
    return tensor.dtype, tensor.device, tuple(tensor.shape), tensor.stride(), tensor.requires_grad


def _learn(calls: Mapping[Hashable, Any], run_decompositions: RunDecompositions) -> bool:
    """
    Break down new calls, each with inputs of its own, and add them to the cache.

    Returns False if tracing fails, or if a result differs in kind from that in the program: the
    decomposition of later calls may depend on its kind.
    """
    import torch
    from torch.export.graph_signature import InputKind

    try:
        program = torch.export.export(*_side_by_side([*calls.values()]), strict=False)
        program = run_decompositions(program)
    except Exception:  # the whole program raises a better error, with the call's place
        return False
    if any(spec.kind is not InputKind.USER_INPUT for spec in program.graph_signature.input_specs):
        return False
    inputs = iter(program.graph.find_nodes(op="placeholder"))
    results = iter(program.graph.output_node().args[0])
    for key, call in calls.items():
        given = [*islice(inputs, len(call.all_input_nodes))]
        before = tensors_of(call.meta["val"])
        made = [*islice(results, len(before))]
        if [*map(_kind_of, made)] != [*map(_kind, before)]:
            return False
        _broken[key] = _Broken(given, _calls_behind(made), made)
    return True


def _side_by_side(calls: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """
    Return a module whose forward makes all `calls`, each on inputs of its own, and example tensors
    for these inputs.
    """
    from torch import nn
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx import map_arg

    class SideBySide(nn.Module):
        def forward(self, *inputs: Any) -> list[Any]:
            given, results = iter(inputs), list[Any]()
            for call in calls:
                values = {source: next(given) for source in call.all_input_nodes}
                args, kwargs = map_arg((call.args, call.kwargs), values.__getitem__)
                results.append(call.target(*args, **kwargs))
            return results

    with FakeTensorMode():
        like = [_like(n.meta["val"]) for call in calls for n in call.all_input_nodes]
    return SideBySide(), tuple(like)


def _like(tensor: Any) -> Any:
    """
    Return a new tensor with the shape, strides, dtype and device of `tensor`, which shares memory
    with no other tensor.
    """
    import torch

    made = torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )
    return made.requires_grad_(tensor.requires_grad)


def _calls_behind(results: Sequence[Any]) -> list[Any]:
    """Return the calls that compute `results`, in the order of the graph."""
    pending, found = [*results], set[Any]()
    while pending:
        node = pending.pop()
        if node.op == "call_function" and node not in found:
            found.add(node)
            pending.extend(node.all_input_nodes)
    return [node for node in results[0].graph.nodes if node in found]


def _rewritten(exported: Any) -> Any:
    """Return the program with each call replaced by the calls that it breaks down into."""
    from torch._guards import detect_fake_mode
    from torch.fx import Graph

    graph, values = Graph(), dict[Any, Any]()
    mode = detect_fake_mode([node.meta.get("val") for node in exported.graph.nodes])
    for node in exported.graph.nodes:
        if node.op in ("placeholder", "output"):
            values[node] = graph.node_copy(node, values.__getitem__)
            values[node].name = node.name  # also a builtin's name, such as `input`
        elif _stays(node):
            values[node] = _copy(graph, node, values, node.meta)
        else:
            values[node] = _broken_copy(graph, node, values, mode)
    graph.eliminate_dead_code()
    return _program(exported, graph)


def _broken_copy(graph: Any, node: Any, values: Mapping[Any, Any], mode: Any) -> Any:
    """Copy the calls that `node` breaks down into to `graph`; return the results of the copies."""
    from torch.utils import _pytree as pytree

    broken = _broken[_key(node)]
    inside = dict(zip(broken.inputs, map(values.__getitem__, node.all_input_nodes), strict=True))
    for call in broken.calls:
        with mode:
            val = pytree.tree_map(_like, call.meta["val"])
        inside[call] = _copy(graph, call, inside, {**node.meta, "val": val})
    results = [inside[result] for result in broken.results]
    return results if isinstance(node.meta["val"], list | tuple) else results[0]


def _copy(graph: Any, node: Any, values: Mapping[Any, Any], meta: Mapping[str, Any]) -> Any:
    """
    Copy a node with the metadata `meta` into `graph`; return its result, or a list of all results.
    """
    if node.target is operator.getitem:
        return values[node.args[0]][node.args[1]]
    call = copy_call(graph, node, values)
    call.meta = {**meta}
    if not isinstance(meta.get("val"), list | tuple):
        return call
    parts: Sequence[Any] = meta["val"]
    results = [graph.call_function(operator.getitem, (call, n)) for n in range(len(parts))]
    for result, part in zip(results, parts, strict=True):
        result.meta = {**meta, "val": part}
    return results


def copy_call(graph: Any, node: Any, values: Mapping[Any, Any]) -> Any:
    """
    Return a new call in `graph` of the operator of `node`, with the name that tracing would give
    it. `values` maps nodes of the arguments to nodes in `graph`.
    """
    from torch.fx import map_arg

    packet = getattr(node.target, "overloadpacket", node.target)
    args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
    name = graph._target_to_str(packet.__name__)
    return graph.create_node("call_function", node.target, args, kwargs, name)


def _program(exported: Any, graph: Any) -> Any:
    """
    Return the exported program with `graph` in place of its graph; the inputs of both have the same
    names.
    """
    from torch.export import ExportedProgram
    from torch.export.graph_signature import ConstantArgument, ExportGraphSignature

    specs = exported.graph_signature.output_specs
    values = graph.output_node().args[0]
    returned = [
        spec
        if isinstance(spec.arg, ConstantArgument)
        else replace(spec, arg=replace(spec.arg, name=value.name))
        for spec, value in zip(specs, values, strict=True)
    ]
    signature = ExportGraphSignature([*exported.graph_signature.input_specs], returned)
    return ExportedProgram(
        exported.graph_module,
        graph,
        signature,
        exported.state_dict,
        exported.range_constraints,
        exported.module_call_graph,
        exported.example_inputs,
        {**exported.constants},
        verifiers=[exported.verifiers[0]],
    )
