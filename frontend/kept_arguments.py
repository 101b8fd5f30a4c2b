# SPDX-License-Identifier: Apache-2.0
"""
Check that a program does not change the lists and dictionaries that it receives.

Export passes copies, and ignores changes to them: a call of the compiled program would not append
to the caller's list.
"""

from contextlib import AbstractContextManager
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.wrapped_forward import Forward, wrapped_forward


def check_arguments_unchanged(module: Any) -> AbstractContextManager[None]:
    """
    Return a context in which a call of `module` raises `UsageError` if it changes a container among
    its arguments.
    """
    from torch.utils import _pytree as pytree

    def wrap(original: Forward) -> Forward:
        def forward(*args: Any, **kwargs: Any) -> Any:
            containers = [*enumerate(args), *kwargs.items()]
            before = [pytree.tree_flatten(value) for _, value in containers]
            result = original(*args, **kwargs)
            for (key, value), (leaves, structure) in zip(containers, before, strict=True):
                now, nested = pytree.tree_flatten(value)
                if nested != structure or any(a is not b for a, b in zip(leaves, now, strict=True)):
                    raise UsageError(
                        f"the program changes its argument [{key!r}], a {type(value).__name__}",
                        remedy="return the new values",
                    )
            return result

        return forward

    return wrapped_forward(module, wrap)
