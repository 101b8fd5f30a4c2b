# SPDX-License-Identifier: Apache-2.0
"""Call of the user's function in PyTorch, as capture sees it: in eval mode, without gradients."""

from collections.abc import Generator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from tilewright.arrays import array_of
from tilewright.frontend.capture import Captured


def results_of_call(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], captured: Captured
) -> list[Any] | None:
    """
    Return the tensors that a function returns, as arrays in the order of the captured results. None
    if it writes into its inputs, or is an exported program.
    """
    import torch
    from torch.utils import _pytree as pytree

    if captured.mutated or isinstance(function, torch.export.ExportedProgram):
        return None
    given_args, given_kwargs = deepcopy((args, kwargs))
    with torch.no_grad(), _in_eval_mode(function):
        result = function(*given_args, **given_kwargs)
    leaves = pytree.tree_leaves(result)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    expected = sum(output.is_tensor for output in captured.outputs)
    return [array_of(tensor) for tensor in tensors] if len(tensors) == expected else None


@contextmanager
def _in_eval_mode(function: Any) -> Generator[None]:
    from torch import nn

    modules = [*function.modules()] if isinstance(function, nn.Module) else []
    modes = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode
