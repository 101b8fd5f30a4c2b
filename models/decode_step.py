# SPDX-License-Identifier: Apache-2.0
"""
Program of one more token: it adds a row to the cache, and returns the logits of the next token.

    token (1, 1)      the token that was chosen last
    position (1)      its position
    keys, values      of each layer; row `position` is written, the rows up to it are read
    -> (vocabulary)   the logits of the next token
"""

from typing import Any

import torch

from tilewright.frontend.capture import Captured, capture
from tilewright.models.key_values import Extended, Rows, cache_of, mode_of, rows_for

Tensor = torch.Tensor


class DecodeStep(torch.nn.Module):
    """Module of the program, made from a causal language model of `transformers`."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(
        self, token: Tensor, position: Tensor, keys: list[Tensor], values: list[Tensor]
    ) -> Tensor:
        """Return the logits of the token after `token`."""
        cache = cache_of(Extended(rows, position) for rows in map(Rows, keys, values))
        output = self.model(input_ids=token, past_key_values=cache, use_cache=True)
        return output.logits[0, 0]


def capture_decode_step(model: Any, capacity: int) -> Captured:
    """Return the captured program of one more token, for a cache of `capacity` rows."""
    rows = rows_for(model, capacity)
    with mode_of(model):
        token, position = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    return capture(DecodeStep(model), (token, position, *map(list, zip(*rows, strict=True))))
