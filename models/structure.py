# SPDX-License-Identifier: Apache-2.0
"""
Structure of a model: the modules of `transformers`, with tensors that have no values.

A model of seven billion parameters then takes no memory: its tensors are fake tensors on a CPU.
Tensors on the device `meta` are unfit: models move buffers to the device of their input, and the
move would be part of the graph.
"""

from copy import deepcopy
from importlib import import_module
from typing import Any

from tilewright.errors import UnsupportedError, UsageError, one_line

DTYPES = ("float32", "bfloat16", "float16")
"""Dtypes that weights may have."""

ATTENTIONS = ("sdpa", "eager")
"""Forms of attention: PyTorch's one function, or two matmuls and a softmax."""


def build(
    config: Any, *, dtype: Any = None, attention: str = "sdpa", layers: int | None = None
) -> Any:
    """
    Return the causal language model of a config, in eval mode: an `nn.Module` of fake tensors.

    `dtype` is one of `DTYPES` or a `torch.dtype`, by default the config's. With `layers`, the model
    has only that many decoder layers. Raises `UsageError` if the config contradicts itself, and
    `UnsupportedError` for dtypes that cannot be compiled.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    make: Any = import_module("transformers").AutoModelForCausalLM.from_config
    no_init_weights: Any = import_module("transformers.initialization").no_init_weights
    config = _shortened(config, layers)
    dtype = _dtype(dtype or config.dtype)
    try:
        with FakeTensorMode(), no_init_weights():
            model = make(
                config, dtype=dtype, attn_implementation=attention, trust_remote_code=False
            )
            model.tie_weights()  # part of the initialisation that is skipped
    except Exception as error:  # the classes of each family have exceptions of their own
        raise UsageError(
            f"cannot make a {config.model_type} from the config: {_message_of(error)}"
        ) from error
    return model.eval()


def _message_of(error: Exception) -> str:
    """
    Return the message of an exception. A `KeyError` has only the unknown name, which becomes a
    sentence.
    """
    return f"{error} is not known" if isinstance(error, KeyError) else one_line(error)


def fake_mode(model: Any) -> Any:
    """
    Return the `FakeTensorMode` that a model was built in; its inputs must be made in that mode.
    """
    return next(model.parameters()).fake_mode


def check_length(config: Any, tokens: int) -> None:
    """Raise `UsageError` if the model does not take sequences of `tokens` tokens."""
    most = config.max_position_embeddings
    if not 1 <= tokens <= most:
        raise UsageError(f"the model takes 1 to {most} tokens, not {tokens}")


def _dtype(dtype: Any) -> Any:
    import torch

    name = str(dtype or "float32").removeprefix("torch.")
    if name not in DTYPES:
        remedy = f"--dtype takes {', '.join(DTYPES)}"
        raise UnsupportedError(f"weights of {name} cannot be compiled", remedy=remedy)
    return getattr(torch, name)


def _shortened(config: Any, layers: int | None) -> Any:
    """Return a copy of the config with only the first `layers` decoder layers."""
    config = deepcopy(config)
    if layers is None:
        return config
    there = config.num_hidden_layers
    if not 1 <= layers <= there:
        raise UsageError(f"the model has {there} layers, of which {layers} cannot be taken")
    config.num_hidden_layers = layers
    if kinds := getattr(config, "layer_types", None):
        config.layer_types = kinds[:layers]
    return config
