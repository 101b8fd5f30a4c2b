# SPDX-License-Identifier: Apache-2.0
"""Nesting of a program's results as the user's function nests them."""

from collections.abc import Iterator
from typing import Any


def nested(leaves: Iterator[Any], structure: Any) -> Any:
    """
    Nest `leaves` as a `TreeSpec` of PyTorch describes, with `torch.Size` and mutable lists and
    dicts.

    PyTorch's own `tree_unflatten` returns a tuple in place of a `torch.Size`. It returns immutable
    lists and dicts for the results of a `torch.fx` graph.
    """
    import torch
    from torch.fx.immutable_collections import immutable_dict, immutable_list
    from torch.utils import _pytree as pytree

    if structure.is_leaf():
        return next(leaves)
    children = [nested(leaves, child) for child in structure.children()]
    if structure.type is torch.Size:
        return torch.Size(children)
    if structure.type is immutable_list:
        return children
    if structure.type is immutable_dict:
        return dict(zip(structure.context, children, strict=True))
    return pytree.SUPPORTED_NODES[structure.type].unflatten_fn(children, structure.context)
