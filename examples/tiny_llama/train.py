# SPDX-License-Identifier: Apache-2.0
"""
Train the model in this folder, a Llama of two layers, to continue one text from any word on.

    python examples/tiny_llama/train.py
"""

from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers

TEXT = """\
Tilewright takes a PyTorch program through six IRs to raw CUDA. Each IR prints as text, parses back,
verifies and runs, so that you can stop anywhere, read, edit, run, and go on."""

NOTHING = -100
"""Label that the loss ignores."""


def tokenizer() -> Any:
    """Return a tokenizer with a token for each word; `<s>` begins each text."""
    words = ["<s>", "</s>", "<unk>", *dict.fromkeys(TEXT.split())]
    numbers = {word: number for number, word in enumerate(words)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="<unk>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def untrained(vocabulary: int) -> Any:
    """
    Return an untrained Llama of two layers whose attention heads share keys and values in pairs.
    """
    config = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
    )
    return transformers.LlamaForCausalLM(config)


def texts(tokenize: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the text from each word on as inputs, and the tokens to predict as labels."""
    words = TEXT.split()
    rows = [[*tokenize(" ".join(words[start:]))["input_ids"], 1] for start in range(len(words))]
    longest = max(map(len, rows))
    inputs = torch.tensor([row + [1] * (longest - len(row)) for row in rows])
    labels = torch.tensor([row + [NOTHING] * (longest - len(row)) for row in rows])
    labels[:, 1] = NOTHING  # the word that begins a text is not predicted
    labels[0, 1] = inputs[0, 1]
    return inputs, labels


def main() -> None:
    """Train the model, and save the model and its tokenizer for `transformers`."""
    torch.manual_seed(0)
    tokenize = tokenizer()
    model = untrained(len(tokenize))
    inputs, labels = texts(tokenize)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(300):
        optimizer.zero_grad()
        model(input_ids=inputs, labels=labels).loss.backward()
        optimizer.step()
    folder = Path(__file__).parent
    model.save_pretrained(folder)
    tokenize.save_pretrained(folder)


if __name__ == "__main__":
    main()
