# SPDX-License-Identifier: Apache-2.0
"""
Constant folding at capture: evaluate the parts of a graph that depend on no input and no weight,
such as attention masks and position tables.

    %a = aten.arange(128)  ...  %m = aten.le(%k, %q)      a mask of 128x128

The mask becomes a call of `predicate`, which describes where it is true. A tensor of equal elements
becomes `aten.full`, and affine integers become `iota`. Other values become a constant: an argument
of the program with its data beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tilewright.frontend.affine_values import (
    Affine,
    affine_of,
    bounds_of,
    iota,
    is_number,
    predicate,
    splat_of,
)
from tilewright.frontend.aten import op_of_call

_MOST_BYTES = 64 << 20
"""Size in bytes above which a result is not folded, but computed by the program."""


def fold(exported: Any) -> None:
    """
    Replace parts of an exported program's graph that depend on no input by simpler calls or
    constants, in place.
    """
    graph = exported.graph
    drop_assertions(graph)
    known = _constants(exported)
    free = independent_of_inputs(graph, known)
    values: dict[Any, Any] = {**known}
    ends = [n for n in graph.nodes if n in free and _is_worth(n, free)]
    for node, value in [(node, _evaluated(node, values)) for node in ends]:
        if value.numel() * value.element_size() <= _MOST_BYTES:
            _replace(exported, node, value)
    graph.eliminate_dead_code()
    exported.graph_module.recompile()


def drop_assertions(graph: Any) -> None:
    """Remove assertions about dtypes: they hold, and keep nodes alive that nothing else uses."""
    import torch

    for node in graph.find_nodes(
        op="call_function", target=torch.ops.aten._assert_tensor_metadata.default
    ):
        graph.erase_node(node)


def _constants(exported: Any) -> dict[Any, Any]:
    """Return the placeholders of constants whose values are known, with the values."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.export.graph_signature import InputKind

    by_name = {node.name: node for node in exported.graph.nodes}
    constants = {
        by_name[spec.arg.name]: exported.constants[spec.target]
        for spec in exported.graph_signature.input_specs
        if spec.kind is InputKind.CONSTANT_TENSOR
    }
    return {n: v for n, v in constants.items() if not isinstance(v, FakeTensor) and not v.is_meta}


def independent_of_inputs(graph: Any, known: Mapping[Any, Any]) -> dict[Any, None]:
    """
    Return the nodes that depend only on `known` nodes, and have tensors of known sizes as values.
    Random and impure nodes are excluded.
    """
    free = dict.fromkeys(known)
    for node in graph.nodes:
        if node.op != "call_function" or node.is_impure() or _is_random(node):
            continue
        if all(source in free for source in node.all_input_nodes) and _has_static_value(node):
            free[node] = None
    return free


def _is_random(node: Any) -> bool:
    import torch

    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _has_static_value(node: Any) -> bool:
    import torch

    value = node.meta.get("val")
    values = cast(Sequence[Any], value if isinstance(value, tuple | list) else [value])
    return all(isinstance(v, torch.Tensor) and _is_static(v.shape) for v in values)


def _is_static(shape: Sequence[Any]) -> bool:
    return all(isinstance(size, int) for size in shape)


def _is_worth(node: Any, free: Mapping[Any, None]) -> bool:
    """
    True if a node's value is to be folded: it is a tensor, and a node that is not `free` uses it.

    The node must also have inputs, or be a call that the dialect has no op for.
    """
    import torch

    if node.op == "placeholder" or not isinstance(node.meta["val"], torch.Tensor):
        return False
    is_end = any(user not in free for user in node.users)
    return is_end and (bool(node.all_input_nodes) or op_of_call(node.target, node.args) is None)


def _evaluated(node: Any, values: dict[Any, Any]) -> Any:
    """
    Return the value of a node, computed on the CPU. `values` holds the known values of nodes, and
    receives all values that are computed.
    """
    import torch
    from torch.fx import map_arg

    pending = [node]
    with torch.no_grad():
        while pending:
            current = pending[-1]
            missing = [n for n in current.all_input_nodes if n not in values]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            args, kwargs = map_arg((current.args, current.kwargs), values.__getitem__)
            kwargs = {**kwargs, "device": torch.device("cpu")} if kwargs.get("device") else kwargs
            values[current] = current.target(*args, **kwargs)
    return values[node]


def _replace(exported: Any, node: Any, value: Any) -> None:
    """
    Replace all uses of `node` by a call that gives `value` without reading memory; if there is
    none, by a constant that holds `value`.
    """
    graph = exported.graph
    with graph.inserting_before(node):
        new = _call_for(graph, value, node.meta)
    new = _placeholder(exported, node.name, value) if new is None else new
    new.meta = {**node.meta}
    node.replace_all_uses_with(new)


def _call_for(graph: Any, value: Any, meta: Mapping[str, Any]) -> Any:
    """
    Return a call that gives `value` without reading memory, such as `aten.full`; None if there is
    none.
    """
    import torch

    shape = [*value.shape]
    if (number := splat_of(value)) is not None:
        return graph.call_function(torch.ops.aten.full.default, *_full(shape, number, value))
    if (affine := affine_of(value)) is not None:
        return _positions(graph, value, affine, meta)
    if value.dtype != torch.bool:
        return _choice_for(graph, value, meta)
    if (bounds := bounds_of(value)) is not None:
        return graph.call_function(predicate, (shape, bounds))
    if (bounds := bounds_of(~value)) is not None:
        outside = _predicate(graph, value.shape, bounds, meta)
        return graph.call_function(torch.ops.aten.logical_not.default, (outside,))
    return None


def _full(shape: Sequence[int], number: float, like: Any) -> tuple[Any, dict[str, Any]]:
    """
    Return the arguments of `aten.full` for a tensor of `shape` filled with a number, in the dtype
    of `like`.
    """
    options = {"dtype": like.dtype, "device": like.device, "pin_memory": False}
    return ([*shape], number), options


def _choice_for(graph: Any, value: Any, meta: Mapping[str, Any]) -> Any:
    """
    Return a call of `where` that chooses between two numbers, such as 0 and -inf, by a predicate of
    positions; None if none gives `value`.
    """
    import torch

    if value.numel() == 0:
        return None
    first = value.reshape(-1)[0]
    is_first = is_number(value, first)
    if (other := splat_of(value[~is_first])) is None:
        return None
    for where, one, two in ((is_first, first.item(), other), (~is_first, other, first.item())):
        if (bounds := bounds_of(where)) is not None:
            condition = _predicate(graph, value.shape, bounds, meta)
            # One number is a tensor, to give the result its dtype.
            full = graph.call_function(torch.ops.aten.full.default, *_full((), one, value))
            full.meta = {**meta, "val": torch.empty((), dtype=value.dtype, device="meta")}
            arguments = (condition, full, two)
            return graph.call_function(torch.ops.aten.where.ScalarOther, arguments)
    return None


def _positions(graph: Any, value: Any, affine: Affine, meta: Mapping[str, Any]) -> Any:
    """
    Return a call of `iota` that gives the integers of the expression `affine`, converted to the
    dtype of `value`.
    """
    import torch

    call = graph.call_function(iota, ([*value.shape], affine))
    if value.dtype == torch.int64:
        return call
    call.meta = {**meta, "val": torch.empty(value.shape, dtype=torch.int64, device="meta")}
    return graph.call_function(torch.ops.aten._to_copy.default, (call,), {"dtype": value.dtype})


def _predicate(graph: Any, shape: Any, bounds: Any, meta: Mapping[str, Any]) -> Any:
    import torch

    call = graph.call_function(predicate, ([*shape], bounds))
    call.meta = {**meta, "val": torch.empty(shape, dtype=torch.bool, device="meta")}
    return call


def _placeholder(exported: Any, name: str, value: Any) -> Any:
    """Add `value` to the program as a constant; return its placeholder."""
    from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

    graph, specs = exported.graph, exported.graph_signature.input_specs
    target = f"{name}_folded"
    first = next(iter(graph.nodes))
    with graph.inserting_before(first):
        node = graph.placeholder(target)
    argument = TensorArgument(name=node.name)
    specs.insert(0, InputSpec(InputKind.CONSTANT_TENSOR, argument, target))
    exported.constants[target] = value
    return node
