# SPDX-License-Identifier: Apache-2.0
"""
Conversion to a tensor of a number that comes first where ATen takes a tensor, as in `2 // x`.

`x // 2` has an overload of its own, `2 // x` has none. The tensor has the dtype to which PyTorch
promotes both operands, so it does not change the result's dtype.
"""

from typing import Any

from tilewright.frontend.aten import is_number_first


def numbers_to_tensors(exported: Any) -> None:
    """Replace leading numbers by tensors in the graph of an exported program, in place."""
    if not (found := [n for n in exported.graph.nodes if is_number_first(n.target, n.args)]):
        return
    for node in found:
        _make_tensor(exported.graph, node)
    exported.graph_module.recompile()


def _make_tensor(graph: Any, node: Any) -> None:
    import torch

    number, other, *rest = node.args
    dtype = torch.result_type(number, other.meta["val"])
    with graph.inserting_before(node):
        tensor = graph.call_function(
            torch.ops.aten.scalar_tensor.default, (number,), {"dtype": dtype}
        )
    tensor.meta = {**node.meta, "val": other.meta["val"].new_empty((), dtype=dtype)}
    node.args = (tensor, other, *rest)
