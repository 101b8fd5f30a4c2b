# SPDX-License-Identifier: Apache-2.0
"""
Program of a whole sequence: the tokens of a prompt in, the logits of every next token out.

The program is the model itself, called with its `input_ids` alone, so parameters and buffers have
the names that checkpoints give them. It keeps no cache for later tokens.
"""

from typing import Any

from tilewright.frontend.expression import Expression
from tilewright.models.structure import check_length, fake_mode


def whole_sequence(model: Any, length: int) -> Expression:
    """
    Return a model of fake tensors with inputs of `length` tokens: `(1, length)` int64 to the
    logits, `(1, length, vocabulary)`. Raises `UsageError` if the model does not take `length`
    tokens.
    """
    import torch

    check_length(model.config, length)
    with fake_mode(model):
        ids = torch.zeros(1, length, dtype=torch.int64)
    return Expression(model, (), {"input_ids": ids, "use_cache": False})
