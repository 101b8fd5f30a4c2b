# SPDX-License-Identifier: Apache-2.0
"""Filters keep the tokens that `transformers` keeps; draws are the same each time."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
import torch

from tilewright.errors import TilewrightError, UsageError
from tilewright.models.sampling import Sampling, filtered, greedy, penalised, sampler


def filtered_by_transformers(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    warpers = import_module("transformers.generation.logits_process")
    scores = logits[None].to(torch.float32)
    chain = [
        (warpers.TemperatureLogitsWarper, sampling.temperature),
        (warpers.TopKLogitsWarper, sampling.top_k),
        # `generate` leaves this filter out where it would keep all tokens
        (warpers.TopPLogitsWarper, None if sampling.top_p == 1 else sampling.top_p),
    ]
    for warper, number in chain:
        if number is not None:
            scores = warper(number)(None, scores)
    return scores[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0.7},
        {"temperature": 3.0, "top_k": 1},
        {"top_k": 5},
        {"top_k": 1000},
        {"top_p": 0.9},
        {"top_p": 1e-6},
        {"top_p": 1.0},
        {"temperature": 0.5, "top_k": 20, "top_p": 0.8},
    ],
    ids=str,
)
def test_filters_are_those_of_transformers(options: dict[str, Any], dtype: torch.dtype):
    sampling = Sampling(**options)
    for scale in (0.1, 2.0, 20.0):
        logits = (scale * torch.randn(100)).to(dtype)  # in bfloat16 many are equal
        expected = filtered_by_transformers(logits, sampling)
        torch.testing.assert_close(filtered(logits, sampling), expected, rtol=0, atol=0)


def test_the_likeliest_token_is_the_first_of_several():
    assert greedy(torch.tensor([0.0, 2.0, 1.0, 2.0]), []) == 1


def test_draws_are_the_same_each_time_and_differ_by_seed():
    logits = torch.randn(100)
    draws = [
        [choose(logits, []) for _ in range(8)]
        for choose in (sampler(Sampling(seed=seed)) for seed in (1, 1, 2))
    ]
    assert draws[0] == draws[1] != draws[2]


def test_tokens_are_drawn_as_often_as_they_are_likely():
    choose = sampler(Sampling(top_k=2))
    logits = torch.tensor([0.3, 0.6, 0.1]).log()
    counts = Counter(choose(logits, []) for _ in range(3000))
    assert counts[2] == 0
    assert abs(counts[1] / 3000 - 2 / 3) < 0.04  # over four standard deviations


def test_the_coldest_draw_is_the_likeliest_token():
    logits = 1e5 * torch.randn(100)
    assert sampler(Sampling(temperature=1e-6))(logits, []) == greedy(logits, [])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("penalty", [1.05, 2, 0.5, 1])
def test_a_repetition_is_penalised_as_by_transformers(penalty: float, dtype: torch.dtype):
    process = import_module("transformers.generation.logits_process")
    rated = list[torch.Tensor]()

    def choose(logits: torch.Tensor, text: Sequence[int]) -> int:
        rated.append(logits)
        return len(text)

    logits, text = torch.randn(100).to(dtype), [3, 97, 3, 3, 14]
    before = logits.clone()
    assert penalised(choose, penalty)(logits, text) == 5
    processor = process.RepetitionPenaltyLogitsProcessor(float(penalty))
    expected = processor(torch.tensor([text]), before[None].float())[0]
    torch.testing.assert_close(rated[0].float(), expected, rtol=0, atol=0)
    assert logits.equal(before)


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan"), float("inf")])
def test_invalid_penalties(penalty: float):
    with pytest.raises(
        UsageError, match=r"^a repetition penalty must be above 0 and finite, not .* \(1 has no"
    ):
        penalised(greedy, penalty)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
@pytest.mark.parametrize("options", [{}, {"top_k": 5}, {"top_p": 0.5}], ids=str)
def test_logits_that_cannot_be_compared(wrong: float, options: dict[str, Any]):
    logits = torch.randn(100)
    logits[7] = wrong
    for choose in (greedy, sampler(Sampling(**options))):
        with pytest.raises(TilewrightError, match="largest logit is NaN or infinite: no token"):
            choose(logits, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"temperature": 0.0},
            "the temperature must be at least 1e-06 and finite, not 0 "
            "(leave it out: then the likeliest token is taken)",
        ),
        (
            {"temperature": -1.0},
            "the temperature must be at least 1e-06 and finite, not -1 "
            "(leave it out: then the likeliest token is taken)",
        ),
        (
            {"temperature": 1e-40},
            "the temperature must be at least 1e-06 and finite, not 1e-40 "
            "(leave it out: then the likeliest token is taken)",
        ),
        (
            {"temperature": float("inf")},
            "the temperature must be at least 1e-06 and finite, not inf "
            "(leave it out: then the likeliest token is taken)",
        ),
        ({"top_k": 0}, "top-k must be at least 1, not 0"),
        ({"top_p": 0.0}, "top-p must be above 0 and at most 1, not 0"),
        ({"top_p": 1.5}, "top-p must be above 0 and at most 1, not 1.5"),
        ({"top_p": float("nan")}, "top-p must be above 0 and at most 1, not nan"),
    ],
    ids=str,
)
def test_invalid_options(options: dict[str, Any], message: str):
    with pytest.raises(UsageError) as err:
        Sampling(**options)
    assert str(err.value) == message
