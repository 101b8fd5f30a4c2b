# SPDX-License-Identifier: Apache-2.0
"""
What the results should be: the captured graph run by PyTorch, in float64 and as it is.

The float64 run promotes every float32: the inputs, and the dtypes that casts and creation ops name.
An absent `eps` stays that of the original dtype. So `model.double()` is not used: it leaves casts
inside the model alone, and takes float64's own eps.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.frontend.capture import Captured, is_node


def reference(captured: Captured, inputs: Sequence[Any]) -> list[Any]:
    """
    The tensors that the function returns as NumPy arrays, computed in float64.

    `inputs` are values for `captured.inputs`, in order, as tensors or arrays. Integer and boolean
    results keep their dtype.
    """
    return _run(captured, inputs, promote=True)


def disturbed(captured: Captured, inputs: Sequence[Any], relative: float) -> list[Any]:
    """
    The results of `reference` when every input and every intermediate float is off by `relative`
    of its value, up or down at random; the signs are the same in every call.
    """
    import torch

    generator = torch.Generator().manual_seed(0)

    def nudged(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
            return value
        signs = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
        return value * (1 + relative * signs)

    return _run(captured, inputs, promote=True, after=nudged)


def eager(captured: Captured, inputs: Sequence[Any]) -> list[Any]:
    """The tensors that the function returns as NumPy arrays, in the dtypes of the program."""
    return _run(captured, inputs, promote=False)


def _run(
    captured: Captured,
    inputs: Sequence[Any],
    *,
    promote: bool,
    after: Callable[[Any], Any] = lambda value: value,
) -> list[Any]:
    """The results, with `after` done to every value as soon as it is there."""
    import torch

    if len(inputs) != len(captured.inputs):
        raise ValueError(f"{len(captured.inputs)} inputs are needed, not {len(inputs)}")
    tensors = [torch.as_tensor(value) for value in inputs]
    if promote:
        tensors = [_promoted(tensor) for tensor in tensors]
    nodes = [input.node for input in captured.inputs]
    values = {node: after(tensor) for node, tensor in zip(nodes, tensors, strict=True)}
    call = _promoted_call if promote else _call
    with torch.no_grad():
        results = _evaluate(
            captured, values, lambda node, args, kwargs: after(call(node, args, kwargs))
        )
    return [result.detach().cpu().numpy() for result in results]


def _evaluate(
    captured: Captured, values: dict[str, Any], call: Callable[[Any, Any, Any], Any]
) -> list[Any]:
    """The user's output tensors; `values` are the graph's arguments by their FX name."""
    from torch.fx import Interpreter

    class Graph(Interpreter):
        def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
            return values.get(str(target))

        def run_node(self, n: Any) -> Any:
            if n.op != "call_function":
                return super().run_node(n)
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return call(n, args, kwargs)

    results = Graph(captured.exported.graph_module).run()
    return [r for r, out in zip(results, captured.outputs, strict=True) if is_node(out)]


def _call(node: Any, args: Any, kwargs: Any) -> Any:
    import torch

    # Values lie in memory otherwise than at capture, where a view was possible.
    if node.target is torch.ops.aten.view.default:
        return torch.ops.aten.reshape.default(*args, **kwargs)
    return node.target(*args, **kwargs)


def _promoted(value: Any) -> Any:
    """A float32 tensor, or float32 itself, as float64; anything else as it is."""
    import torch

    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.double()
    return torch.float64 if value == torch.float32 else value


def _promoted_call(node: Any, args: Any, kwargs: Any) -> Any:
    """A call in float64. Tensors among the arguments are promoted already."""
    import torch
    from torch.utils import _pytree as pytree

    if node.target is torch.ops.aten._assert_tensor_metadata.default:
        return None
    args, kwargs = pytree.tree_map_only(torch.dtype, _promoted, (args, kwargs))
    if node.target is torch.ops.aten.rms_norm.default:
        input, sizes, weight, eps = (*args, None, None)[:4]
        own = torch.finfo(node.args[0].meta["val"].dtype).eps
        args = (input, sizes, weight, own if eps is None else eps)
    return _promoted(_call(node, args, kwargs))
