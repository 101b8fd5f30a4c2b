# SPDX-License-Identifier: Apache-2.0
"""The results of a program, nested as the user's function nests them."""

from collections.abc import Iterator
from typing import Any


def nested(leaves: Iterator[Any], structure: Any) -> Any:
    """
    Nest `leaves` as a `TreeSpec` of PyTorch says, with a `torch.Size` where it says one.

    PyTorch's own `tree_unflatten` makes a tuple of it, and lists and dicts that cannot be changed
    where a graph of `torch.fx` returns some.
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
