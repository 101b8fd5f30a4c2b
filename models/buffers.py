# SPDX-License-Identifier: Apache-2.0
"""
Buffers that no checkpoint has, because a model computes them when it is made.

Examples are rotary frequencies and the scale of Gemma's embeddings: `register_buffer(...,
persistent=False)`. The structure of a model has no values for them, but the model can initialise
each of its modules. Therefore modules that own these buffers get real ones and are initialised, in
the same way for all families.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tilewright.errors import UnsupportedError


def rebuilt_buffers(model: Any) -> dict[str, Any]:
    """
    Return the buffers of a model that are in no checkpoint, by full name, as tensors on the CPU.

    The model may consist of fake tensors, and is unchanged afterwards. Raises `UnsupportedError`
    with the names of buffers that the model's initialisation does not write.
    """
    import torch

    # Elements that are not written keep the filling, which differs between the two.
    first, second = (_initialised(model, filling) for filling in (0, 1))
    unknown = [name for name in first if not torch.equal(first[name], second[name])]
    if unknown:
        kind = type(model).__name__
        raise UnsupportedError(
            f"the values of {', '.join(unknown)} are not known: no checkpoint has these buffers, "
            f"and the initialisation of {kind} does not write them"
        )
    return first


def _initialised(model: Any, filling: int) -> dict[str, Any]:
    """
    Return the buffers that are in no checkpoint, by full name, after the model initialised tensors
    full of `filling`.
    """
    values: dict[str, Any] = {}
    for path, module in model.named_modules():
        names = sorted(module._non_persistent_buffers_set)
        if not names:
            continue
        with _real(module, names, filling) as buffers:
            model._init_weights(module)
        values |= {f"{path}.{name}" if path else name: buffers[name] for name in buffers}
    return values


@contextmanager
def _real(module: Any, names: list[str], filling: int) -> Generator[dict[str, Any]]:
    """
    Replace a module's buffers by real tensors, and its parameters by tensors without values, within
    the `with` block: the initialisation writes to both. Yield the real buffers called `names`, at
    first full of `filling`.
    """
    import torch

    buffers, parameters = dict(module._buffers), dict(module._parameters)
    there = {name: buffers[name] for name in names if buffers[name] is not None}
    real = {name: torch.full(b.shape, filling, dtype=b.dtype) for name, b in there.items()}
    module._buffers.update(real)
    module._parameters.update({name: _without_values(p) for name, p in parameters.items()})
    try:
        yield real
    finally:
        module._buffers.update(buffers)
        module._parameters.update(parameters)


def _without_values(parameter: Any) -> Any:
    from torch import nn

    return None if parameter is None else nn.Parameter(parameter.to("meta"), requires_grad=False)
