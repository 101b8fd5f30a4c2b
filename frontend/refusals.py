# SPDX-License-Identifier: Apache-2.0
"""
Checks of what an exported program may not contain. Each error names the operator or value, its
place, and a remedy.
"""

from collections.abc import Sequence
from typing import Any, cast

from tilewright.arrays import MAX_RANK
from tilewright.dialects.element_types import DTYPES
from tilewright.errors import UnsupportedError
from tilewright.frontend.affine_values import FUNCTIONS
from tilewright.frontend.aten import dtype_name, op_of_call
from tilewright.frontend.source import place_of_node
from tilewright.frontend.unsupported import Refusal, refusal_of


def calls_of(exported: Any) -> list[Any]:
    """
    Return the nodes that compute something: dead nodes and assertions about dtypes are left out.
    """
    import torch

    asserts = torch.ops.aten._assert_tensor_metadata.default
    calls = [node for node in exported.graph.nodes if node.op not in ("placeholder", "output")]
    return [n for n in calls if n.target is not asserts and (n.users or n.is_impure())]


def tensors_of(value: Any) -> list[Any]:
    """Return the tensors of a node's `val`: the value itself, or the tensors in its tuple."""
    import torch

    values = cast(Sequence[Any], value if isinstance(value, tuple | list) else [value])
    return [v for v in values if isinstance(v, torch.Tensor)]


def check_source(exported: Any) -> None:
    """
    Raise `UnsupportedError` for anything the compiler does not support in a program as the user
    wrote it, before decomposition.
    """
    _check_names(exported)
    _check_layouts(exported)
    _check_sizes(exported)
    _check_extents(exported)
    _check_dtypes(exported)


def check_states(exported: Any) -> None:
    """
    Raise `UnsupportedError` if PyTorch gets the last state of an LSTM wrong and the program uses
    it. PyTorch 2.11 gives the state an axis too many when it traces several sequences.
    """
    import torch

    for node in exported.graph.find_nodes(
        op="call_function", target=torch.ops.aten.lstm.input, sort=False
    ):
        given, found = node.args[1][0].meta["val"], node.meta["val"][1]
        used = any(part.users for part in node.users if part.args[1] != 0)
        if used and given.dim() != found.dim():
            raise UnsupportedError(
                f"PyTorch {torch.__version__} gets the last state of {node.name} wrong",
                where=_where(node),
                remedy="use a newer version of PyTorch, or only what the layer gives at each step",
            )


def check(exported: Any) -> None:
    """
    Raise `UnsupportedError` for anything the compiler does not support in a program after
    decomposition.
    """
    _check_layouts(exported)
    _check_sizes(exported)
    _check_extents(exported)
    _check_ops(exported)
    _check_dtypes(exported)


def refused_in(exported: Any) -> set[str]:
    """
    Return the schema names of the operators that are refused in a program as the user wrote it,
    such as `aten::topk`.

    For an operator that writes in place, the names of its functional variants are included.
    """
    names = [n.target._schema.name for n, _ in _refused(exported) if hasattr(n.target, "_schema")]
    plain = {name.rstrip("_") for name in names}
    return {*names, *plain, *(f"{name}_functional" for name in plain)}


def _refused(exported: Any) -> list[tuple[Any, Refusal]]:
    """Return the calls of refused operators, each with its refusal."""
    from torch.fx import GraphModule

    modules = [m for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    calls = [n for m in modules for n in m.graph.nodes if n.op == "call_function"]
    used = [n for n in calls if n.users or n.is_impure()]
    return [(n, refusal) for n in used if (refusal := refusal_of(n)) is not None]


def _check_names(exported: Any) -> None:
    """Raise `UnsupportedError` if a call is of a refused operator; one error names all of them."""
    found = _refused(exported)
    if len({node.target for node, _ in found}) == 1:
        node, refusal = found[0]
        raise UnsupportedError(
            f"{node.target} (node {node.name}) is not supported: {refusal.reason}",
            where=_where(node),
            remedy=refusal.remedy,
        )
    by_refusal: dict[Refusal, list[Any]] = {}
    for node, refusal in found:
        by_refusal.setdefault(refusal, []).append(node)
    if by_refusal:
        reasons = (
            f"{_named(nodes)}: {refusal.reason}, {refusal.remedy}"
            for refusal, nodes in by_refusal.items()
        )
        raise UnsupportedError(f"{_UNKNOWN}: {'; '.join(reasons)}")


def _check_layouts(exported: Any) -> None:
    """Raise `UnsupportedError` unless every tensor is dense."""
    import torch

    for node in exported.graph.nodes:
        for tensor in tensors_of(node.meta.get("val")):
            if tensor.layout is not torch.strided:
                raise UnsupportedError(
                    f"{_what(node)} has the layout {tensor.layout}; only dense ones are supported",
                    where=_where(node),
                )


def _check_sizes(exported: Any) -> None:
    """Raise `UnsupportedError` if a number or a size is only known when the program runs."""
    import torch

    for node in exported.graph.nodes:
        value = node.meta.get("val")
        sizes = [size for tensor in tensors_of(value) for size in tensor.shape]
        symbols = [v for v in (value, *sizes) if isinstance(v, torch.SymInt | torch.SymFloat)]
        symbols += [v for v in (value,) if isinstance(v, torch.SymBool)]
        if symbols:
            raise UnsupportedError(
                f"the shape or value of {node.name} is only known when the program runs",
                where=_where(node),
                remedy="shapes must follow from the inputs' shapes alone",
            )


_MOST_ELEMENTS = 1 << 58
"""Number of elements up to which the size of a tensor in bits fits 64 bits, in any dtype."""


def _check_extents(exported: Any) -> None:
    """
    Raise `UnsupportedError` if a tensor has more dimensions than a NumPy array may have, or more
    than `_MOST_ELEMENTS` elements.
    """
    for node in exported.graph.nodes:
        for tensor in tensors_of(node.meta.get("val")):
            if tensor.dim() > MAX_RANK:
                found = f"{tensor.dim()} dims; at most {MAX_RANK}"
            elif tensor.numel() > _MOST_ELEMENTS:
                found = f"{tensor.numel()} elements; at most {_MOST_ELEMENTS}"
            else:
                continue
            raise UnsupportedError(f"{_what(node)} has {found} are supported", where=_where(node))


_UNKNOWN = "PyTorch operators that are not supported"


def _check_ops(exported: Any) -> None:
    """Raise `UnsupportedError` if a call has no op in the dialect; one error names all of them."""
    import operator

    calls = [n for n in calls_of(exported) if n.target not in (operator.getitem, *FUNCTIONS)]
    unknown = [n for n in calls if op_of_call(n.target, n.args) is None]
    if unknown:
        raise UnsupportedError(f"{_UNKNOWN}: {_named(unknown)}")


def _named(nodes: Sequence[Any]) -> str:
    """
    Return a text that names each operator with node and line of its first call, and the number of
    its other calls.
    """
    by_target: dict[str, list[Any]] = {}
    for node in nodes:
        by_target.setdefault(str(node.target), []).append(node)
    return ", ".join(
        f"{target} (node {first.name}{_at(first)}{f' and {len(more)} more' if more else ''})"
        for target, (first, *more) in by_target.items()
    )


def _at(node: Any) -> str:
    place = place_of_node(node)
    return f" at {place}" if place else ""


def _check_dtypes(exported: Any) -> None:
    """
    Raise `UnsupportedError` unless every tensor that is used or passed in has a dtype of the IR.
    """
    passed = exported.graph_signature.user_inputs
    arguments = [n for n in exported.graph.nodes if n.op == "placeholder"]
    arguments = [n for n in arguments if n.users or n.name in passed]
    for node in (*arguments, *calls_of(exported)):
        for tensor in tensors_of(node.meta.get("val")):
            if dtype_name(tensor.dtype) not in DTYPES:
                raise UnsupportedError(
                    f"{_what(node)} has the dtype {tensor.dtype}, which is not supported",
                    where=_where(node),
                    remedy=f"dtypes: {', '.join(DTYPES)}",
                )


def _what(node: Any) -> str:
    kind = "the input" if node.op == "placeholder" else "the result of node"
    return f"{kind} {node.name!r}"


def _where(node: Any) -> str:
    """Return the place where a value is made, or for an input the place of its first use."""
    nodes = [*node.users][:1] if node.op == "placeholder" else [node]
    return next((str(place) for n in nodes if (place := place_of_node(n))), "")
