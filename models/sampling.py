# SPDX-License-Identifier: Apache-2.0
"""
Choice of the next token: the likeliest, or a random draw among the likely ones.

The filters are those of `transformers`, in its order: the penalty of repetitions, temperature, then
`top_k`, then `top_p`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.errors import TilewrightError, UsageError

Choose = Callable[[Any, Sequence[int]], int]
"""
Function that returns the number of the next token. Its arguments are the logits of all tokens, a
tensor (vocabulary) of any dtype and device, and the text so far, including the prompt.

Raises `TilewrightError` for logits that cannot be compared.
"""

_COLDEST = 1e-6
"""Lowest temperature: logits divided by it are still far below the largest float32."""


@dataclass(frozen=True)
class Sampling:
    """
    Parameters and seed of random draws. Raises `UsageError` for invalid values.

    Logits are divided by `temperature`. Only the `top_k` likeliest tokens are kept, and of these
    the likeliest whose probabilities together reach `top_p`.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not _COLDEST <= self.temperature < float("inf"):
            raise UsageError(
                f"the temperature must be at least {_COLDEST:g} and finite, "
                f"not {self.temperature:g}",
                remedy="leave it out: then the likeliest token is taken",
            )
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top-k must be at least 1, not {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UsageError(f"top-p must be above 0 and at most 1, not {self.top_p:g}")


def greedy(logits: Any, text: Sequence[int]) -> int:
    """Return the likeliest token; of several, the first."""
    token = int(logits.argmax())  # the position of a NaN, if there is one
    if not logits[token].isfinite():
        raise _incomparable()
    return token


def sampler(sampling: Sampling) -> Choose:
    """
    Return a function that draws tokens at random from the seed of `sampling`: the draws are
    reproducible, on any device.
    """
    import torch

    generator = torch.Generator().manual_seed(sampling.seed)

    def draw(logits: Any, text: Sequence[int]) -> int:
        weights = filtered(logits.cpu(), sampling).softmax(-1)
        if weights.isnan().any():
            raise _incomparable()
        return int(torch.multinomial(weights, 1, generator=generator))

    return draw


def penalised(choose: Choose, penalty: float) -> Choose:
    """
    Return `choose`, changed to make tokens that are already in the text less likely.

    The logits of these tokens are divided by `penalty` if they are positive, else multiplied by it
    (CTRL, arXiv:1909.05858, section 4.1). A penalty below 1 makes them likelier. Raises
    `UsageError` unless `penalty` is above 0 and finite.
    """
    if not 0 < penalty < float("inf"):
        raise UsageError(
            f"a repetition penalty must be above 0 and finite, not {penalty:g}",
            remedy="1 has no effect",
        )
    if penalty == 1:
        return choose
    import torch

    def chosen(logits: Any, text: Sequence[int]) -> int:
        scores = logits.to(torch.float32, copy=True)
        seen = torch.tensor([*{*text}], device=scores.device)
        of_seen = scores[seen]
        scores[seen] = torch.where(of_seen < 0, of_seen * penalty, of_seen / penalty)
        return choose(scores, text)

    return chosen


def _incomparable() -> TilewrightError:
    return TilewrightError(
        "the largest logit is NaN or infinite: no token can be chosen",
        remedy="float16 weights may overflow: try --dtype bfloat16 or float32",
    )


def filtered(logits: Any, sampling: Sampling) -> Any:
    """
    Return the logits in float32, divided by the temperature, with -inf for tokens that `top_k` or
    `top_p` excludes.
    """
    import torch

    scores = logits.to(torch.float32) / sampling.temperature
    if sampling.top_k is not None:
        scores = _among_likeliest(scores, sampling.top_k)
    if sampling.top_p is not None and sampling.top_p < 1:
        scores = _within_probability(scores, sampling.top_p)
    return scores


def _among_likeliest(scores: Any, number: int) -> Any:
    """
    Return the scores with -inf for tokens less likely than the last of the `number` likeliest. Ties
    with that one are kept.
    """
    least = scores.topk(min(number, len(scores))).values[-1]
    return scores.masked_fill(scores < least, float("-inf"))


def _within_probability(scores: Any, probability: float) -> Any:
    """
    Return the scores with -inf for the unlikeliest tokens that together have at most `1 -
    probability`.
    """
    ordered, tokens = scores.sort()
    goes = ordered.softmax(-1).cumsum(-1) <= 1 - probability
    goes[-1] = False
    return scores.masked_fill(goes.scatter(0, tokens, goes), float("-inf"))
