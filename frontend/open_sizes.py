# SPDX-License-Identifier: Apache-2.0
"""Sizes that an exported program leaves open, which a compiled program fixes."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any


class FixedSizeWarning(UserWarning):
    """Warning that a size left open at export is compiled for one value."""


def warn_of_open_sizes(exported: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """
    Warn of each open size of a `torch.export.ExportedProgram`, with its range and the size that
    `args` and `kwargs` fix it at. The compiled program refuses calls with another size.
    """
    for symbol, (places, size) in _open_sizes(exported, args, kwargs).items():
        allowed = _range(exported.range_constraints.get(symbol))
        message = f"{' and '.join(places)} may be {allowed}, but is compiled for {size} alone"
        warnings.warn(f"{message}: calls with another size are refused", FixedSizeWarning, 2)


def _open_sizes(
    exported: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[Any, tuple[list[str], int]]:
    """
    Return, by the symbol of each open size, texts that name the dimensions with that size, and the
    size in the inputs.
    """
    import torch
    from torch.utils import _pytree as pytree

    found: dict[Any, tuple[list[str], int]] = {}
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    names = exported.graph_signature.user_inputs
    for name, given in zip(names, pytree.tree_leaves((args, kwargs)), strict=False):
        value = nodes[name].meta.get("val") if name in nodes else None
        if not isinstance(value, torch.Tensor) or not isinstance(given, torch.Tensor):
            continue
        sizes: list[Any] = list(value.shape)
        for dim, (size, fixed) in enumerate(zip(sizes, given.shape, strict=False)):
            if isinstance(size, int):
                continue
            places, _ = found.setdefault(size.node.expr, ([], fixed))
            places.append(f"dimension {dim} of the input '{name}'")
    return found


def _range(bounds: Any) -> str:
    """Return a range of sizes in words; None stands for a size that follows from other sizes."""
    if bounds is None:
        return "another size"
    lowest, highest = bounds.lower, bounds.upper
    return f"{lowest} to {highest}" if highest.is_Integer else f"any size from {lowest} on"
