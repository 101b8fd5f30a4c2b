# SPDX-License-Identifier: Apache-2.0
"""
Minimum work of a captured function, by its graph: operations of contractions, and bytes.

The work is a lower bound. An input counts if some operator reads all of it, not if it is only
indexed. Half of the products of causal attention count. An unknown operator counts as no
operations.

Products of half types count separately, because tensor cores multiply them faster. Operands that
are converted from half types count as half types.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from tilewright.codegen.timing.roofline import HALF_TYPES, Work
from tilewright.frontend.capture import Captured

_VIEWS = {
    *("view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand", "flatten"),
    *("unflatten", "alias", "contiguous", "clone", "detach", "movedim", "numpy_T", "mT"),
}
"""
Operators that compute nothing: they read those elements of their input that the users of the result
read.
"""
_CONVERSIONS = {"to", "_to_copy", "float", "type_as"}
"""Operators that convert all elements of their input to another type."""
_LOOK_UPS = {
    *("embedding", "index", "index_select", "gather", "take", "take_along_dim", "slice", "select"),
    *("narrow", "diagonal", "split", "split_with_sizes", "chunk", "unbind", "tril", "triu"),
}
"""Operators that may read only a part of their input."""


def work_of(captured: Captured) -> Work:
    """Return the minimum work to compute the results of the captured function."""
    graph = captured.exported.graph
    nodes = {node.name: node for node in graph.nodes}
    read = sum(_bytes(i.tensor) for i in captured.inputs if _is_read(nodes[i.node], captured))
    outputs = {output.value for output in captured.outputs if output.is_tensor}
    written = sum(_bytes(node.meta["val"]) for node in outputs)
    calls = [node for node in graph.nodes if node.op == "call_function"]
    half = sum(_flops(node) for node in calls if _multiplies_halves(node))
    return Work(sum(map(_flops, calls)), read + written, half)


def _bytes(tensor: Any) -> int:
    """
    Return the bytes of a tensor in memory: repeated elements of an expanded tensor count once.
    """
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())


def _is_read(node: Any, captured: Captured) -> bool:
    """True if some operator reads all elements of the node, directly or through `_VIEWS`."""
    return any(_reads(user, captured) for user in node.users)


def _reads(user: Any, captured: Captured) -> bool:
    if user.op != "call_function":
        return user.op == "output"
    name = _name(user)
    if name in _VIEWS:
        return _is_read(user, captured)
    return name not in _LOOK_UPS


def _name(node: Any) -> str:
    """Return the operator's name without overload: `matmul` for `aten.matmul.default`."""
    return str(getattr(node.target, "overloadpacket", node.target)).rpartition(".")[2]


def _flops(node: Any) -> int:
    formula = _FORMULAS.get(_name(node))
    return 0 if formula is None else formula(node)


def _multiplies_halves(node: Any) -> bool:
    """True if all floating-point operands of a contraction have half types, or had them."""
    if _name(node) not in _FORMULAS:
        return False
    operands = [each for each in node.args if hasattr(each, "meta")]
    floats = [each for each in operands if each.meta["val"].dtype.is_floating_point]
    return all(map(_was_half, floats))


def _was_half(node: Any) -> bool:
    """True if the elements of a node have a half type, or are converted from one."""
    if str(node.meta["val"].dtype).removeprefix("torch.") in HALF_TYPES:
        return True
    converts = node.op == "call_function" and _name(node) in _VIEWS | _CONVERSIONS
    return converts and _was_half(node.args[0])


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape)


def _product(first: int) -> Callable[[Any], int]:
    """
    Return a function that counts the multiplications and additions of a matrix product. Its left
    operand is argument number `first`.
    """
    return lambda node: 2 * prod(_shape(node)) * _shape(node.args[first])[-1]


def _attention(node: Any) -> int:
    """
    Return the number of multiplications and additions with keys and with values; of causal
    attention only those below the diagonal.
    """
    query, key, value = (_shape(argument) for argument in node.args[:3])
    *batch, rows, width = query
    columns = key[-2]
    is_causal = node.kwargs.get("is_causal", (*node.args, *[False] * 6)[5])
    square = min(rows, columns)
    below = square * (square + 1) // 2 + (rows - square) * columns
    products = prod(batch) * (below if is_causal else rows * columns)
    return 2 * products * (width + value[-1])


def _convolution(node: Any) -> int:
    """
    Return the number of multiplications and additions of a convolution: each result reads a window
    of the input.
    """
    return 2 * prod(_shape(node)) * prod(_shape(node.args[1])[1:])


def _transposed_convolution(node: Any) -> int:
    """
    Return the number of multiplications and additions of a transposed convolution: each input
    element is spread over a window of the result.
    """
    return 2 * prod(_shape(node.args[0])) * prod(_shape(node.args[1])[1:])


_FORMULAS: Mapping[str, Callable[[Any], int]] = {
    **{name: _product(0) for name in ("mm", "bmm", "matmul", "linear", "mv", "dot")},
    **{name: _product(1) for name in ("addmm", "baddbmm", "addmv")},
    "scaled_dot_product_attention": _attention,
    **{f"conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _transposed_convolution for n in (1, 2, 3)},
}
