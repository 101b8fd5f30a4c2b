# SPDX-License-Identifier: Apache-2.0
"""
Keys and values of all tokens so far, in tensors that are allocated once.

    keys of a layer   (1, heads, capacity, size of a head)     values have the same shape
    token t           row t of each: written once, read by every later token

`transformers` gives new rows to a `Cache`, and takes from it the rows that a layer attends to. The
caches here write new rows into tensors that the program takes as inputs. Capture sees inputs that
are written in place, and the compiled program stores the new rows where they belong.

A layer with a sliding window keeps all rows, and the mask excludes the old ones. Therefore the row
of a token has the token's position in every layer.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor

from tilewright.models.structure import fake_mode

Tensor = torch.Tensor

_cache_utils: Any = import_module("transformers.cache_utils")


class Rows(NamedTuple):
    """Keys and values of one layer."""

    keys: Tensor
    values: Tensor


class _Layer(_cache_utils.CacheLayerMixin):
    """Layer of a cache whose tensors exist from the start."""

    def __init__(self, rows: Rows):
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.rows = rows
        self.keys, self.values = rows
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Do nothing: the rows exist already."""

    def get_max_length(self) -> int:
        """Return the number of rows that there is room for."""
        return self.rows.keys.shape[2]


class Extended(_Layer):
    """
    Layer of a cache that takes the row of one new token, at `position`, and returns all rows.

    Attention excludes the rows after `position`: the mask is `row <= position`. These rows must be
    finite numbers all the same, because a weight of 0 does not remove a NaN.
    """

    is_compileable = True
    """
    Setting that makes `transformers` keep the mask. Otherwise it omits the mask for one token, if
    it knows all rows.
    """

    def __init__(self, rows: Rows, position: Tensor):
        super().__init__(rows)
        self._position = position

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """
        Write the row of the new token; return the keys and values of all rows, for attention to
        read.
        """
        self.rows.keys.index_copy_(2, self._position, key_states)
        self.rows.values.index_copy_(2, self._position, value_states)
        return self.rows

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the number of rows that the mask covers, and 0, the position of the first row."""
        return self.get_max_length(), 0

    def get_seq_length(self) -> Any:
        """Return the number of earlier tokens, as a tensor that `transformers` uses as a number."""
        return self._position[0]


class Filled(_Layer):
    """
    Layer of a cache whose first rows are those of a prompt, which attends to itself.

    The padding after the prompt has rows as well, which are never read. All tokens of the prompt
    come before the padding. Each later token writes its own row before it attends to the rows up to
    it.
    """

    is_compileable = False

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """
        Write the rows of the prompt; return the keys and values just written, for attention to
        read.
        """
        length = key_states.shape[2]
        self.rows.keys[:, :, :length] = key_states
        self.rows.values[:, :, :length] = value_states
        return key_states, value_states

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """
        Return the number of rows that the mask covers, which are the prompt's, and 0, the position
        of the first row.
        """
        return query_length, 0

    def get_seq_length(self) -> int:
        """Return 0: no tokens come before the prompt."""
        return 0


def cache_of(layers: Iterable[_Layer]) -> Any:
    """Return a `Cache` of `transformers` with these layers, for a model's `past_key_values`."""
    return _cache_utils.Cache(layers=[*layers])


def rows_for(model: Any, capacity: int) -> list[Rows]:
    """
    Return zeros for the keys and values of `capacity` tokens in each layer; fake tensors if the
    model's are.

    The model is run on one token to find the shape and dtype of a row.
    """
    with mode_of(model), torch.no_grad():
        token = torch.zeros(1, 1, dtype=torch.int64)
        layers = model(input_ids=token, use_cache=True).past_key_values.layers
        return [Rows(_room(l.keys, capacity), _room(l.values, capacity)) for l in layers]


def _room(row: Tensor, capacity: int) -> Tensor:
    one, heads, _, size = row.shape
    return row.new_zeros(one, heads, capacity, size)


def mode_of(model: Any) -> AbstractContextManager[Any]:
    """Return a context in which new tensors are fake if the model's are, else real."""
    is_fake = isinstance(next(model.parameters()), FakeTensor)
    return fake_mode(model) if is_fake else nullcontext()


def bytes_of(rows: Sequence[Rows]) -> int:
    """Return the size of all keys and values in bytes."""
    return sum(tensor.nbytes for layer in rows for tensor in layer)
