# SPDX-License-Identifier: Apache-2.0
"""Random convolutions, poolings and equations: decomposed programs compute PyTorch's results."""

from typing import Any

import pytest
from draws import drawn
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.dialects import torch

pytorch: Any = pytest.importorskip("torch")

few = settings(
    max_examples=drawn(12), print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
small = st.integers(1, 3)


def rand(seed: int, *shape: int) -> Any:
    return pytorch.randn(shape, generator=pytorch.Generator().manual_seed(seed))


@given(
    size=st.tuples(*[st.integers(1, 7)] * 2),
    kernel=st.tuples(small, small),
    stride=st.tuples(small, small),
    padding=st.tuples(*[st.integers(0, 4)] * 2),
    dilation=st.tuples(small, small),
    channels=st.tuples(small, small, small),
    bias=st.booleans(),
)
@few
def test_convolutions(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, channels: Any, bias: bool,
    check: Any,
):  # fmt: skip
    reach = [n + 2 * p - d * (k - 1) for n, k, p, d in zip(size, kernel, padding, dilation)]
    assume(min(reach) > 0)
    groups, taken, given_ = channels
    input, weight = rand(0, 2, groups * taken, *size), rand(1, groups * given_, taken, *kernel)
    added = rand(2, groups * given_) if bias else None
    check(torch.Conv2dOp, input, weight, added, stride, padding, dilation, groups)


@given(
    size=st.integers(1, 6),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 4),
    padding=st.integers(0, 4),
    extra=st.integers(0, 3),
    dilation=small,
    channels=st.tuples(small, small, small),
)
@few
def test_transposed_convolutions(
    size: int, kernel: int, stride: int, padding: int, extra: int, dilation: int, channels: Any,
    check: Any,
):  # fmt: skip
    assume(extra < max(stride, dilation))
    assume((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1 > 0)
    groups, taken, given_ = channels
    input, weight = rand(0, 1, groups * taken, size), rand(1, groups * taken, given_, kernel)
    arguments = ([stride], [padding], [extra], groups, [dilation])
    check(torch.ConvTranspose1dOp, input, weight, rand(2, groups * given_), *arguments)


@given(
    size=st.integers(1, 9),
    kernel=st.integers(1, 5),
    stride=st.integers(1, 5),
    padding=st.integers(0, 2),
    dilation=small,
    ceil=st.booleans(),
    counted=st.booleans(),
)
@few
def test_poolings(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool, counted: bool,
    check: Any,
):  # fmt: skip
    assume(padding <= kernel // 2)
    input, window = rand(0, 1, 2, size).round(), ([kernel], [stride], [padding])
    if size + 2 * padding >= kernel:
        check(torch.AvgPool1dOp, input, *window, ceil, counted)
    # A dilated window that skips all elements is refused.
    if size + 2 * padding > dilation * (kernel - 1) and dilation <= size:
        check(torch.MaxPool1dWithIndicesOp, input, *window, [dilation], ceil, exact=True)


@given(size=st.tuples(*[st.integers(1, 9)] * 2), parts=st.tuples(*[st.integers(0, 12)] * 2))
@few
def test_adaptive_poolings(size: Any, parts: Any, check: Any):
    input = rand(0, 2, *size).round()
    check(torch.AdaptiveAvgPool2dOp, input, parts)
    check(torch.AdaptiveMaxPool2dOp, input, parts, exact=True)


@given(data=st.data(), sizes=st.lists(st.integers(0, 3), min_size=4, max_size=4))
@few
def test_einsum(data: st.DataObject, sizes: list[int], check: Any):
    of = dict(zip("abCd", sizes))
    some_labels = st.text("abCd", max_size=3)
    terms = data.draw(st.lists(some_labels, min_size=1, max_size=4))
    batched = [data.draw(st.booleans()) for _ in terms]
    operands = [
        rand(i, *((2,) * ellipsis), *(of[label] for label in term))
        for i, (term, ellipsis) in enumerate(zip(terms, batched))
    ]
    equation = ",".join("..." * e + term for term, e in zip(terms, batched))
    if data.draw(st.booleans()):
        own = data.draw(st.lists(st.sampled_from(sorted({*"".join(terms)}) or [""]), unique=True))
        equation += "->" + "".join(own) + "..." * data.draw(st.booleans())
    check(torch.EinsumOp, equation, operands)


@given(
    batch=st.lists(small, max_size=2),
    lengths=st.tuples(*[st.integers(1, 5)] * 4),
    mask=st.sampled_from(["none", "causal", "bool", "float"]),
)
@few
def test_attention(batch: list[int], lengths: tuple[int, ...], mask: str, check: Any):
    queries, keys, size, of_value = lengths
    tensors = (
        rand(0, *batch, queries, size),
        rand(1, *batch, keys, size),
        rand(2, *batch, keys, of_value),
    )
    added = rand(3, queries, keys)
    masks = {"bool": added > 0, "float": added}
    check(
        torch.ScaledDotProductAttentionOp,
        *tensors,
        masks.get(mask),
        is_causal=mask == "causal",
    )
