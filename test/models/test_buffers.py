# SPDX-License-Identifier: Apache-2.0
"""Rebuilt buffers, which no checkpoint has, equal those of a model that was really made."""

from typing import Any

import pytest
import torch
from tiny_models import MODEL_TYPES, tiny_config, tiny_model

from tilewright.errors import UnsupportedError
from tilewright.models.buffers import rebuilt_buffers
from tilewright.models.structure import build


def own_buffers(model: Any) -> dict[str, torch.Tensor]:
    """Return the buffers of a real model that a checkpoint of it does not contain."""
    stored = model.state_dict()
    return {name: value for name, value in model.named_buffers() if name not in stored}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_they_are_those_of_a_real_model(family: str, dtype: str):
    config = tiny_config(family, dtype=dtype)
    rebuilt, real = rebuilt_buffers(build(config)), own_buffers(tiny_model(config))
    assert rebuilt.keys() == real.keys()
    for name, value in real.items():
        torch.testing.assert_close(rebuilt[name], value, rtol=0, atol=0)


def test_families_have_those_that_are_known_of_them():
    rope = {"model.rotary_emb.inv_freq", "model.rotary_emb.original_inv_freq"}
    assert rebuilt_buffers(build(tiny_config("mistral"))).keys() == rope
    assert rebuilt_buffers(build(tiny_config("gpt2"))) == {}
    gemma = rebuilt_buffers(build(tiny_config("gemma")))
    assert gemma.keys() == rope | {"model.embed_tokens.embed_scale"}
    assert gemma["model.embed_tokens.embed_scale"] == 8.0


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "linear", "factor": 4.0},
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    ],
    ids=lambda rope: rope["rope_type"],
)
def test_scaled_rotary_frequencies(rope: dict[str, Any]):
    config = tiny_config("llama", rope_parameters={"rope_theta": 10000.0, **rope})
    plain = rebuilt_buffers(build(tiny_config("llama")))
    rebuilt, real = rebuilt_buffers(build(config)), own_buffers(tiny_model(config))
    for name, value in real.items():
        torch.testing.assert_close(rebuilt[name], value, rtol=0, atol=0)
        assert not torch.equal(rebuilt[name], plain[name])


def test_the_model_is_unchanged():
    model = build(tiny_config("gemma"))
    tensors = [*model.parameters(), *model.buffers()]
    rebuilt_buffers(model)
    after = [*model.parameters(), *model.buffers()]
    assert all(one is other for one, other in zip(tensors, after, strict=True))


def test_a_buffer_that_nothing_writes_is_named():
    model = build(tiny_config("llama"))
    model.model.layers[1].register_buffer("table", torch.zeros(4), persistent=False)
    with pytest.raises(UnsupportedError) as caught:
        rebuilt_buffers(model)
    assert str(caught.value) == (
        "the values of model.layers.1.table are not known: no checkpoint has these buffers, and "
        "the initialisation of LlamaForCausalLM does not write them"
    )
