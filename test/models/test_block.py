# SPDX-License-Identifier: Apache-2.0
"""Decoder blocks compute what the first layers of the model compute."""

from typing import Any

import pytest
import torch
from tiny_models import MODEL_TYPES, tiny_config, tiny_model
from torch._subclasses.fake_tensor import FakeTensor

from tilewright.errors import UsageError
from tilewright.models.block import decoder_block

TOKENS = 20
"""Number of tokens, above the sliding window of the tiny Mistral."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_a_block_is_what_the_model_does_in_its_first_layer(family: str, attention: str) -> None:
    config = tiny_config(family)
    block = decoder_block(config, TOKENS, attention=attention, seed=0)
    model = tiny_model(config, attention)
    x = torch.randn(1, TOKENS, 64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        done: Any = model(inputs_embeds=x, use_cache=False, output_hidden_states=True)
        before, after, *_ = done.hidden_states
        (layers,) = (m for m in model.base_model.children() if isinstance(m, torch.nn.ModuleList))
        own = {k: v for k, v in layers.state_dict(prefix="layers.").items() if ".0." in k}
        block.module.load_state_dict(own)
        torch.testing.assert_close(block.module(before, **block.kwargs), after)


def test_without_a_seed_nothing_has_values() -> None:
    block = decoder_block(tiny_config("qwen2"), 8, dtype="bfloat16")
    tensors = [*block.module.parameters(), *block.args, *block.kwargs["position_embeddings"]]
    assert all(isinstance(tensor, FakeTensor) for tensor in tensors)
    assert {tensor.dtype for tensor in tensors} == {torch.bfloat16}


def test_with_a_seed_values_are_always_the_same() -> None:
    first, again, other = (decoder_block(tiny_config("llama"), 8, seed=n) for n in (0, 0, 1))
    assert all(map(torch.equal, first.module.parameters(), again.module.parameters()))
    assert not torch.equal(first.args[0], other.args[0])


def test_several_layers_one_after_the_other() -> None:
    block = decoder_block(tiny_config("llama"), 8, layers=2, seed=0)
    first, second = block.module.layers
    x = first(block.args[0], **block.kwargs)
    assert torch.equal(block.module(*block.args, **block.kwargs), second(x, **block.kwargs))


def test_more_tokens_than_positions() -> None:
    with pytest.raises(UsageError, match="the model takes 1 to 64 tokens, not 65"):
        decoder_block(tiny_config("gpt2"), 65)
