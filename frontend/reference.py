# SPDX-License-Identifier: Apache-2.0
"""
Reference results: runs of the captured graph in PyTorch, in float64 and in its own dtypes, and the
memory that they take.

The float64 run promotes every floating dtype: that of inputs, of casts and creation ops, and the
default dtype. Integers and bools keep their dtype. An absent `eps` is that of the original dtype.
`model.double()` is not used: it keeps casts inside the model, and takes float64's own eps.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from operator import getitem
from typing import Any

from tilewright.arrays import ROUNDOFF, array_of, tensor_of
from tilewright.errors import UsageError
from tilewright.frontend.aten import dtype_name
from tilewright.frontend.capture import Captured
from tilewright.frontend.pytorch_precision import highest_precision
from tilewright.frontend.rounded_factors import rounding_call
from tilewright.frontend.source import error_at, first_line, place_of_node
from tilewright.stages import stage

_NUDGING = 32
"""
Bytes of temporaries for each element that `perturbed` changes: four arrays of 8 bytes an element.
"""


def reference(captured: Captured, inputs: Sequence[Any]) -> list[Any]:
    """
    Return the results of the captured function as NumPy arrays, computed in float64.

    `inputs` are values for `captured.inputs`, in order, as tensors or arrays. Integer and boolean
    results keep their dtype.
    """
    with stage("compute in float64 by PyTorch"):
        return _run(captured, inputs, promote=True)


def perturbed(captured: Captured, inputs: Sequence[Any], roundings: float) -> list[Any]:
    """
    Return the results of `reference` with a rounding error in every input and every intermediate
    float.

    The error is `roundings` units of roundoff of the value's dtype in the program, up or down at
    random. The signs are equal in every call.
    """
    import torch
    from torch.utils import _pytree as pytree

    generator = torch.Generator().manual_seed(0)

    def nudged(value: Any, original: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
            return value
        signs = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
        return value * (1 + roundings * ROUNDOFF[dtype_name(original.dtype)] * signs)

    def after(node: Any, value: Any) -> Any:
        leaves, structure = pytree.tree_flatten(value)
        originals = pytree.tree_leaves(node.meta.get("val"))
        return pytree.tree_unflatten(map(nudged, leaves, originals), structure)

    with stage("compute by PyTorch with rounding errors"):
        return _run(captured, inputs, promote=True, after=after)


def coarse(captured: Captured, inputs: Sequence[Any]) -> list[Any]:
    """
    Return the results of `reference` with the factors of matrix products and convolutions rounded
    as far as the program's precision allows.
    """
    with stage("compute by PyTorch with rounded factors"):
        call = rounding_call(captured, _promoted_call)
        return _run(captured, inputs, promote=True, call=call)


def eager(captured: Captured, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of the captured function as NumPy arrays, in the dtypes of the program."""
    with stage("compute by PyTorch"), highest_precision():
        return _run(captured, inputs, promote=False)


def _as_it_is(node: Any, value: Any) -> Any:
    return value


def _run(
    captured: Captured,
    inputs: Sequence[Any],
    *,
    promote: bool,
    after: Callable[[Any, Any], Any] = _as_it_is,
    call: Callable[[Any, Any, Any], Any] | None = None,
) -> list[Any]:
    """
    Return the outputs of the captured function as arrays; computed in float64 if `promote`.
    `after(node, value)` returns the value that replaces each computed one. `call` computes a node,
    if it is given.
    """
    import torch

    if len(inputs) != len(captured.inputs):
        raise ValueError(f"{len(captured.inputs)} inputs are needed, not {len(inputs)}")
    tensors = [tensor_of(value) for value in inputs]
    if promote:
        tensors = [_promoted(tensor) for tensor in tensors]
    nodes = [input.node for input in captured.inputs]
    call = call or (_promoted_call if promote else _call)
    default = torch.float64 if promote else torch.get_default_dtype()
    with torch.no_grad(), _default_dtype(default):
        results = _evaluate(captured, dict(zip(nodes, tensors, strict=True)), call, after)
    return [array_of(result) for result in results]


@contextmanager
def _default_dtype(dtype: Any) -> Generator[None]:
    """
    Set PyTorch's default dtype within the `with` block. It is the dtype of `arange(0.5)` and of the
    quotient of two integers.
    """
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _refusal(node: Any, error: Exception) -> UsageError:
    """Return the error for values, such as subscripts, that an op refuses at run time."""
    message = f"{node.target}: {first_line(error)}"
    place = place_of_node(node)
    return error_at(place, message) if place else UsageError(message)


def _evaluate(
    captured: Captured,
    values: dict[str, Any],
    call: Callable[[Any, Any, Any], Any],
    after: Callable[[Any, Any], Any],
) -> list[Any]:
    """
    Run the graph, and return the tensors among its outputs. `values` are its arguments by FX name;
    `call` computes a node, and `after` replaces its value.
    """
    from torch.fx import Interpreter

    class Graph(Interpreter):
        def run_node(self, n: Any) -> Any:
            if n.op == "placeholder":
                return after(n, values[n.name]) if n.name in values else None
            if n.op != "call_function":
                return super().run_node(n)
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            # Parts of several results have been nudged already.
            finish = _as_it_is if n.target is getitem else after
            try:
                return finish(n, call(n, args, kwargs))
            except Exception as error:
                raise _refusal(n, error) from error

    graph = Graph(captured.exported.graph_module)
    graph.extra_traceback = False
    results = graph.run()
    outputs = zip(results, captured.outputs, strict=True)
    return [result for result, output in outputs if output.is_tensor]


def _call(node: Any, args: Any, kwargs: Any) -> Any:
    import torch

    # Values may have other strides than at capture, where a view was possible.
    if node.target is torch.ops.aten.view.default:
        return torch.ops.aten.reshape.default(*args, **kwargs)
    return node.target(*args, **kwargs)


def _promoted(value: Any) -> Any:
    """Return a floating-point tensor or dtype as float64; anything else unchanged."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype.is_floating_point else value
    return torch.float64 if isinstance(value, torch.dtype) and value.is_floating_point else value


def _promoted_call(node: Any, args: Any, kwargs: Any) -> Any:
    """Return the result of a call in float64. Tensors among the arguments are promoted already."""
    import torch
    from torch.utils import _pytree as pytree

    if node.target is torch.ops.aten._assert_tensor_metadata.default:
        return None
    args, kwargs = pytree.tree_map_only(torch.dtype, _promoted, (args, kwargs))
    aten = torch.ops.aten
    if node.target in (aten.rms_norm.default, aten._fused_rms_norm.default):
        input, sizes, weight, eps = (*args, None, None)[:4]
        args = (input, sizes, weight, _eps_of(node.args[0]) if eps is None else eps)
    return pytree.tree_map(_promoted, _call(node, args, kwargs))


def _eps_of(input: Any) -> float:
    """
    Return the default eps of an RMS norm: that of the dtype it computes in, which is float32 for
    half types.
    """
    import torch

    dtype = input.meta["val"].dtype
    return torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps


def bytes_of_reference(captured: Captured) -> int:
    """
    Return about how many bytes `perturbed`, the largest of the runs, holds at once: live float64
    values, and the temporaries of nudging them.
    """
    given = sum(i.tensor.numel() * i.tensor.element_size() for i in captured.inputs)
    graph = captured.exported.graph
    last_use = {used: node for node in graph.nodes for used in node.all_input_nodes}
    freed: dict[Any, list[Any]] = {}
    for node, user in last_use.items():
        freed.setdefault(user, []).append(node)
    live = peak = 0
    for node in graph.nodes:
        elements = sum(tensor.numel() for tensor in _tensors_of(node))
        live += 8 * elements
        peak = max(peak, live + _NUDGING * elements)
        live -= sum(8 * t.numel() for used in freed.get(node, ()) for t in _tensors_of(used))
    return given + peak


def _tensors_of(node: Any) -> Iterator[Any]:
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(node.meta.get("val"))
    return (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
