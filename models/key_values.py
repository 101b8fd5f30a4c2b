# SPDX-License-Identifier: Apache-2.0
"""
The keys and values of all tokens so far, in tensors that are allocated once.

    keys of a layer   (1, heads, capacity, size of a head)     values alike
    token t           row t of each: written once, read by every later token

`transformers` asks a `Cache` for what a layer attends to, and hands it the new rows. Ours writes
them into tensors that the program is given, so that capture sees inputs that are written in place,
and the compiled program stores the new rows where they belong.

A layer with a sliding window keeps all rows, and the mask leaves out the old ones: so a row is
where its token is, in every layer.
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
    """The keys and the values of one layer."""

    keys: Tensor
    values: Tensor


class _Layer(_cache_utils.CacheLayerMixin):
    """What layers have in common: tensors that are there from the start."""

    def __init__(self, rows: Rows):
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.rows = rows
        self.keys, self.values = rows
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing is left to do: the rows are given."""

    def get_max_length(self) -> int:
        """How many rows there is room for."""
        return self.rows.keys.shape[2]


class Extended(_Layer):
    """
    A layer that gets the row of one new token, at `position`, and attends to all rows there are.

    Rows behind `position` are not attended to: the mask is `row <= position`. They have to be
    numbers all the same, for a weight of 0 makes nothing of a NaN.
    """

    is_compileable = True
    """Keeps the mask, which `transformers` leaves out for one token where all rows are known."""

    def __init__(self, rows: Rows, position: Tensor):
        super().__init__(rows)
        self._position = position

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write the new row; all rows are attended to."""
        self.rows.keys.index_copy_(2, self._position, key_states)
        self.rows.values.index_copy_(2, self._position, value_states)
        return self.rows

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """How many rows there are, and the position of the first."""
        return self.get_max_length(), 0

    def get_seq_length(self) -> Any:
        """How many tokens came before: a tensor, which `transformers` takes for the number."""
        return self._position[0]


class Filled(_Layer):
    """
    A layer whose first rows are those of a prompt, which attends to itself.

    What fills up the prompt's bucket behind it has rows as well. Nobody reads them: all tokens of
    the prompt come before, and each later token writes its own row before it attends to the rows up
    to that.
    """

    is_compileable = False

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write the first rows, and attend to what was written."""
        length = key_states.shape[2]
        self.rows.keys[:, :, :length] = key_states
        self.rows.values[:, :, :length] = value_states
        return key_states, value_states

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the prompt attends to itself."""
        return query_length, 0

    def get_seq_length(self) -> int:
        """Nothing comes before the prompt."""
        return 0


def cache_of(layers: Iterable[_Layer]) -> Any:
    """What a model takes for its `past_key_values`: a `Cache` of `transformers`."""
    return _cache_utils.Cache(layers=[*layers])


def rows_for(model: Any, capacity: int) -> list[Rows]:
    """
    Room for `capacity` tokens in each layer, all 0; fake if the model is.

    What a row is like is asked of the model, which is run on one token.
    """
    with mode_of(model), torch.no_grad():
        token = torch.zeros(1, 1, dtype=torch.int64)
        layers = model(input_ids=token, use_cache=True).past_key_values.layers
        return [Rows(_room(l.keys, capacity), _room(l.values, capacity)) for l in layers]


def _room(row: Tensor, capacity: int) -> Tensor:
    one, heads, _, size = row.shape
    return row.new_zeros(one, heads, capacity, size)


def mode_of(model: Any) -> AbstractContextManager[Any]:
    """In which tensors are made as the model's are: fake or real."""
    is_fake = isinstance(next(model.parameters()), FakeTensor)
    return fake_mode(model) if is_fake else nullcontext()


def bytes_of(rows: Sequence[Rows]) -> int:
    """What all keys and values take."""
    return sum(tensor.nbytes for layer in rows for tensor in layer)
