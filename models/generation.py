# SPDX-License-Identifier: Apache-2.0
"""
Continuation of a prompt, token by token.

    prefill        the prompt, once      fills the first rows of the cache, gives logits
    decode step    each chosen token     adds its row to the cache, gives logits

Both steps are programs of their own, which share the weights and the cache. Each is compiled for
one length, when that is first needed. A prompt is padded to the next bucket, and the cache has the
size of the bucket for all tokens. Therefore a model needs few programs.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.models.bound_program import BoundProgram, Compile, Run
from tilewright.models.decode_step import capture_decode_step
from tilewright.models.key_values import Rows, rows_for
from tilewright.models.prefill import capture_prefill
from tilewright.models.sampling import Choose, greedy

Compiled = tuple[Captured, Run]

_SMALLEST = 16
"""Number of tokens of the smallest bucket."""


class Generator:
    """
    Generator of tokens that continue a prompt, with a causal language model of `transformers`.

    The model may consist of fake tensors: then `weights` are its parameters and buffers by name, on
    `device`, where the cache is made too.
    """

    def __init__(
        self,
        model: Any,
        compile: Compile,
        weights: Mapping[str, Any] | None = None,
        device: str = "cpu",
    ):
        self.model, self.device = model, device
        self.weights: Mapping[str, Any] = {} if weights is None else weights
        self.most: int = model.config.max_position_embeddings
        """Maximum number of tokens that the model takes."""
        self.programs: dict[str, Compiled] = {}
        """Programs compiled so far, by a description such as `prefill of 16, cache of 32`."""
        self.rows: Sequence[Rows] = ()
        """Cache of the prompt that is being continued."""
        self.compile = compile
        self.compiling = 0.0
        """Seconds spent on capture and compilation of `programs`."""

    def tokens(
        self,
        prompt: Sequence[int],
        most_new: int,
        choose: Choose = greedy,
        ends: Collection[int] = (),
    ) -> Iterator[int]:
        """
        Return an iterator over the tokens after `prompt`, each computed when it is needed.

        The iterator ends after `most_new` tokens, or after the first that is one of `ends`. Raises
        `UsageError` if the model does not take that many tokens. `prompt` must consist of the
        model's tokens, and not be empty.
        """
        self._check(prompt, most_new)
        return self._tokens(list(prompt), most_new, choose, ends)

    def _check(self, prompt: Sequence[int], most_new: int) -> None:
        if most_new < 1:
            raise UsageError(f"the number of new tokens must be at least 1, not {most_new}")
        if len(prompt) + most_new > self.most:
            raise UsageError(
                f"the model takes at most {self.most} tokens, but a prompt of {len(prompt)} and "
                f"{most_new} new tokens are {len(prompt) + most_new}"
            )

    def _tokens(
        self, prompt: list[int], most_new: int, choose: Choose, ends: Collection[int]
    ) -> Iterator[int]:
        # The last token is chosen but never read: it needs no row.
        capacity = bucket(len(prompt) + most_new - 1, self.most)
        self.rows = [Rows(*map(self._on_device, rows)) for rows in rows_for(self.model, capacity)]
        chosen = choose(self._prefill(prompt, capacity), prompt)
        yield chosen
        if most_new == 1 or chosen in ends:
            return
        text = [*prompt, chosen]
        token, position = self._numbers(1, 1), self._numbers(1)
        step = self._decode_step(token, position, capacity)
        for place in range(len(prompt), len(prompt) + most_new - 1):
            token.fill_(chosen)
            position.fill_(place)
            chosen = choose(step(), text)
            yield chosen
            text.append(chosen)
            if chosen in ends:
                return

    def _prefill(self, prompt: list[int], capacity: int) -> Any:
        """
        Write the rows of the prompt into the cache; return the logits of the token after the
        prompt.
        """
        import torch

        length = bucket(len(prompt), self.most)
        tokens, last = self._numbers(1, length), self._numbers(1)
        tokens[0, : len(prompt)] = torch.tensor(prompt)
        last.fill_(len(prompt) - 1)
        name = f"prefill of {length}, cache of {capacity}"
        compiled = self._program(name, lambda: capture_prefill(self.model, length, capacity))
        return self._bound(compiled, tokens, last)()

    def _decode_step(self, token: Any, position: Any, capacity: int) -> BoundProgram:
        name = f"decode step, cache of {capacity}"
        compiled = self._program(name, lambda: capture_decode_step(self.model, capacity))
        return self._bound(compiled, token, position)

    def _program(self, name: str, capture: Callable[[], Captured]) -> Compiled:
        if name not in self.programs:
            start = time.perf_counter()
            captured = capture()
            self.programs[name] = captured, self.compile(captured)
            self.compiling += time.perf_counter() - start
        return self.programs[name]

    def _bound(self, compiled: Compiled, *arguments: Any) -> BoundProgram:
        keys, values = zip(*self.rows, strict=True)
        return BoundProgram(*compiled, self.weights, (*arguments, *keys, *values))

    def _numbers(self, *shape: int) -> Any:
        import torch

        return torch.zeros(shape, dtype=torch.int64, device=self.device)

    def _on_device(self, like: Any) -> Any:
        """Return zeros on the device, with the shape and dtype of `like`, which may be fake."""
        import torch

        return torch.zeros(like.shape, dtype=like.dtype, device=self.device)


def bucket(length: int, most: int) -> int:
    """
    Return the smallest bucket that holds `length` tokens: a power of two from 16 on, or `most`, the
    maximum number of tokens of the model. `length` must not exceed `most`.
    """
    assert 0 < length <= most
    size = _SMALLEST
    while size < length:
        size *= 2
    return min(size, most)
