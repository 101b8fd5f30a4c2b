# SPDX-License-Identifier: Apache-2.0
"""
Detaching of results that require a gradient, in a program that records gradients itself: `with
torch.enable_grad()`.

PyTorch traces the backward pass of results that require a gradient. That fails where the caller has
turned gradients off, as export does here: kernels are made for inference.
"""

from contextlib import AbstractContextManager
from typing import Any

from tilewright.frontend.nesting import nested
from tilewright.frontend.wrapped_forward import Forward, wrapped_forward


def drop_gradients(module: Any) -> AbstractContextManager[None]:
    """Return a context in which the results of `module` that require a gradient are detached."""
    from torch.utils import _pytree as pytree

    def wrap(original: Forward) -> Forward:
        def forward(*args: Any, **kwargs: Any) -> Any:
            results = original(*args, **kwargs)
            leaves, structure = pytree.tree_flatten(results)
            if not any(map(_is_recorded, leaves)):
                return results
            without = (leaf.detach() if _is_recorded(leaf) else leaf for leaf in leaves)
            return nested(without, structure)

        return forward

    return wrapped_forward(module, wrap)


def _is_recorded(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.grad_fn is not None
