# SPDX-License-Identifier: Apache-2.0
"""
Decoder block: layers of a model, without the parts before and after them, called as the model calls
them.

    block = decoder_block(config, tokens=128)
    block.module(*block.args, **block.kwargs)

A layer takes hidden states of the shape [1, tokens, width], and arguments that all layers of a
model share: tables of cosines and sines, and a mask if attention needs one. A model is run up to
its first layer to record these arguments, which works for all families.
"""

import inspect
from collections.abc import Mapping
from math import sqrt
from typing import Any

from tilewright.frontend.expression import Expression
from tilewright.models.buffers import rebuilt_buffers
from tilewright.models.structure import build, check_length, fake_mode


class _Reached(Exception):
    """
    Exception that stops a model at its first layer; it carries the arguments of the layer's call.
    """

    def __init__(self, arguments: Mapping[str, Any]):
        self.arguments = arguments


def decoder_block(
    config: Any,
    tokens: int,
    *,
    dtype: Any = None,
    attention: str = "sdpa",
    layers: int = 1,
    seed: int | None = None,
) -> Expression:
    """
    Return the first `layers` layers of a model as one module, with the arguments of a call.

    With a `seed`, parameters are random numbers on the CPU; otherwise tensors have no values.
    Raises `UsageError` as `check_length` and `build` do.
    """
    import torch
    from torch.utils import _pytree as pytree

    check_length(config, tokens)
    model = build(config, dtype=dtype, attention=attention, layers=layers)
    mode, base = fake_mode(model), model.base_model
    listed = next(child for child in base.children() if isinstance(child, torch.nn.ModuleList))
    generator = torch.Generator().manual_seed(seed or 0)
    for child in base.children():
        if child is not listed and child is not base.get_input_embeddings():
            _fill(child, generator)
    for name, buffer in rebuilt_buffers(model).items():
        path, _, own = name.rpartition(".")
        setattr(model.get_submodule(path), own, buffer)
    x = torch.randn(1, tokens, config.hidden_size, generator=generator).to(model.dtype)
    shared = _shared(base, listed[0], x)
    if seed is not None:
        _fill(listed, generator)
    else:
        x, shared = pytree.tree_map(mode.from_tensor, (x, shared))
    return Expression(_stack(listed), (x,), shared)


def _stack(layers: Any) -> Any:
    """Return a module that applies layers one after the other, each with the shared arguments."""
    from torch import nn

    class DecoderBlock(nn.Module):
        """Consecutive decoder layers of a model."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: Any, **shared: Any) -> Any:
            for layer in self.layers:
                x = layer(x, **shared)
            return x

    return DecoderBlock().eval()


def _fill(module: Any, generator: Any) -> None:
    """
    Fill parameters with random numbers: gains near 1, biases near 0, rows of weights with a norm
    near 1.
    """
    import torch

    for path, parameter in [*module.named_parameters()]:
        owner, _, name = path.rpartition(".")
        values = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() > 1:
            values /= sqrt(parameter.shape[-1])
        else:
            values = 0.1 * values + (name == "weight")
        filled = torch.nn.Parameter(values.to(parameter.dtype), requires_grad=False)
        module.get_submodule(owner).register_parameter(name, filled)


def _shared(base: Any, layer: Any, x: Any) -> dict[str, Any]:
    """
    Return the arguments that a model passes to its first layer besides hidden states, by parameter
    name. Only tensors that the layer computes with are included.
    """
    import torch

    signature = inspect.signature(layer.forward)

    def stop(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        raise _Reached(signature.bind(*args, **kwargs).arguments)

    handle = layer.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        with torch.no_grad():
            base(inputs_embeds=x, use_cache=False)
    except _Reached as reached:
        _, *others = reached.arguments.items()
        return {name: value for name, value in others if _is_computed_with(value)}
    finally:
        handle.remove()
    raise AssertionError("a model calls its layers")


def _is_computed_with(value: Any) -> bool:
    """
    True if a value consists of tensors that a layer computes with. Positions are excluded: the
    tables of cosines and sines contain them already.
    """
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(value)
    return bool(leaves) and all(
        isinstance(leaf, torch.Tensor) and leaf.dtype != torch.int64 for leaf in leaves
    )
