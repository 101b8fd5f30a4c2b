# SPDX-License-Identifier: Apache-2.0
"""The structure of a model is the model of `transformers`, without values."""

from typing import Any

import pytest
import torch
from tiny_models import MODEL_TYPES, tiny_config, tiny_model
from torch._subclasses.fake_tensor import FakeTensor

from tilewright.errors import UnsupportedError, UsageError
from tilewright.models.structure import ATTENTIONS, build


def described(model: Any) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Return the shapes and dtypes of all tensors that a model stores."""
    return {name: (value.shape, value.dtype) for name, value in model.state_dict().items()}


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_it_is_the_model_itself(family: str, attention: str):
    config = tiny_config(family)
    model, real = build(config, attention=attention), tiny_model(config, attention)
    assert type(model) is type(real)
    assert described(model) == described(real)
    assert model.config._attn_implementation == attention
    assert not model.training


def test_nothing_has_values():
    model = build(tiny_config("gemma", hidden_size=2**20, intermediate_size=2**30))
    tensors = [*model.parameters(), *model.buffers()]
    assert all(isinstance(tensor, FakeTensor) for tensor in tensors)
    assert {tensor.device.type for tensor in tensors} == {"cpu"}


@pytest.mark.parametrize("tied", [True, False])
def test_tied_weights_are_one_tensor(tied: bool):
    model = build(tiny_config("llama", tie_word_embeddings=tied))
    assert (model.lm_head.weight is model.model.embed_tokens.weight) == tied


@pytest.mark.parametrize(
    ("config", "requested", "expected"),
    [
        (None, None, torch.float32),
        ("bfloat16", None, torch.bfloat16),
        ("bfloat16", "float32", torch.float32),
        ("float32", torch.float16, torch.float16),
    ],
)
def test_weights_have_the_dtype_of_the_config_or_the_requested_one(
    config: str | None, requested: Any, expected: torch.dtype
):
    model = build(tiny_config("qwen2", dtype=config), dtype=requested)
    assert {parameter.dtype for parameter in model.parameters()} == {expected}
    assert model.model.rotary_emb.inv_freq.dtype is torch.float32


@pytest.mark.parametrize("requested", ["float64", "int8", "floatt"])
def test_other_dtypes_are_refused(requested: str):
    with pytest.raises(UnsupportedError, match=f"weights of {requested} cannot be compiled"):
        build(tiny_config("qwen2"), dtype=requested)


@pytest.mark.parametrize("family", MODEL_TYPES)
def test_only_the_first_layers(family: str):
    config = tiny_config(family)
    model, whole = build(config, layers=1), build(config)
    shorter = described(model)
    assert model.config.num_hidden_layers == 1
    assert shorter == {name: kind for name, kind in described(whole).items() if name in shorter}
    assert 0 < len(whole.state_dict()) - len(shorter) < len(shorter)
    assert config.num_hidden_layers == 2


@pytest.mark.parametrize("layers", [0, 3])
def test_missing_layers(layers: int):
    with pytest.raises(UsageError, match=f"the model has 2 layers, of which {layers} cannot"):
        build(tiny_config("llama"), layers=layers)


def test_a_name_that_transformers_does_not_know():
    message = "cannot make a llama from the config: 'smooth' is not known"
    with pytest.raises(UsageError, match=message):
        build(tiny_config("llama", hidden_act="smooth"))


def test_a_config_that_contradicts_itself():
    config = tiny_config("gemma")
    config.vocab_size = -1
    with pytest.raises(UsageError, match="cannot make a gemma from the config: "):
        build(config)
