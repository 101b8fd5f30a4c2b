# SPDX-License-Identifier: Apache-2.0
"""
Random attention: `scaled_dot_product_attention`, or a softmax between two products, at odd and even
sizes. Heads of queries may share keys and values, and some keys are hidden.

One element of the keys or values may be NaN or infinite, or all elements of a key large. A row that
sees that key has PyTorch's result. A row from which it is hidden has the result of inputs without
it. A hidden value may make the result NaN as well (`docs/numerics.md`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, nan
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attend

from tilewright import api
from tilewright.arrays import array_of
from tilewright.frontend.capture import Captured
from tilewright.interpreters.judge import Judge
from tilewright.interpreters.program import Function
from tilewright.matrix_sums import MatrixSums
from tilewright.tools.program import captured_program

Array = NDArray[Any]

LENGTHS = (1, 2, 7, 16, 33, 64, 65, 100, 130)
SIZES = (8, 16, 24, 32, 40, 64, 80, 96, 128)
FEW, LONG = (2, 5, 7, 17, 33), (250, 333, 777, 1024, 1030)
"""Lengths and sizes of cases with long heads: their queries and keys may be staged in slices."""
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
GROUPED = ("enable_gqa", "repeat_interleave", "expand")
MASKS = ("none", "causal", "causal", "window", "bool", "float")
TARGETS = ("sm_80", "sm_90a", "sm_120")

LARGE = 12.0
"""Factor of the key that is large."""

WINDOW = 20
"""Number of keys that a row sees through a window."""

STEPS = 1_500_000
"""Most multiply-adds of a case, which the simulator does in about a second."""


def _window(rows: int, keys: int) -> Tensor:
    """Return the keys that each row sees through a window; the first row sees none."""
    return torch.ones(rows, keys, dtype=torch.bool).tril(-1).triu(-WINDOW)


class Form(NamedTuple):
    """Spelling of attention in PyTorch."""

    is_fused: bool
    """True for `scaled_dot_product_attention`, False for a softmax between two products."""
    mask: str
    scale: float | None
    grouped: str
    """Way in which heads share keys and values; empty if they do not."""
    group: int
    """Heads that share keys and values."""
    has_wide_softmax: bool
    """True if the softmax is computed in float32."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the attention of queries to keys and values."""
        k, v = self._repeated(k), self._repeated(v)
        if self.mask == "window":
            mask = _window(q.shape[-2], k.shape[-2])
        if self.is_fused:
            is_causal, gqa = self.mask == "causal", self.grouped == "enable_gqa"
            return attend(q, k, v, mask, is_causal=is_causal, scale=self.scale, enable_gqa=gqa)
        scores = q @ k.mT
        if self.scale is not None:
            scores = scores * self.scale
        if self.mask == "causal":
            hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -inf)
        elif mask is not None:
            is_bool = mask.dtype is torch.bool
            scores = scores.masked_fill(~mask, -inf) if is_bool else scores + mask
        dtype = torch.float32 if self.has_wide_softmax else None
        return torch.softmax(scores, -1, dtype=dtype).to(q.dtype) @ v

    def _repeated(self, x: Tensor) -> Tensor:
        if self.grouped == "repeat_interleave":
            return x.repeat_interleave(self.group, 1)
        if self.grouped == "expand":
            batch, heads, *row = x.shape
            wide = x[:, :, None].expand(batch, heads, self.group, *row)
            return wide.reshape(batch, heads * self.group, *row)
        return x


class Case(NamedTuple):
    """Attention, its inputs, and the elements of its result that may be NaN."""

    form: Form
    inputs: Sequence[Tensor]
    clean: Sequence[Tensor]
    """Inputs without the element that is NaN or infinite."""
    sees: Array
    """True for the rows that see the key of that element."""
    may_be_nan: Array
    """True for the elements of the result that are hidden from that element, and may be NaN."""
    target: str
    matrix_sums: MatrixSums
    note: str

    @property
    def is_poisoned(self) -> bool:
        """True if an element is NaN or infinite."""
        return self.inputs is not self.clean

    def captured(self) -> Captured:
        """Return the captured program."""
        return api.capture(self.form, *self.inputs)

    def arrays(self) -> list[Array]:
        """Return the inputs as arrays."""
        return [array_of(tensor) for tensor in self.inputs]


class Judged:
    """
    Right results of a case. PyTorch's fused kernels for CPUs give 0 for some rows in which a
    score is NaN or infinite. If there may be any, its other kernel in float64 is right.
    """

    def __init__(self, case: Case, captured: Captured):
        self.case = case
        clean, inputs = [array_of(tensor) for tensor in case.clean], case.arrays()

        def joined(function: Callable[..., Any]) -> Callable[..., Any]:
            def results(_: Sequence[Array], *roundings: float) -> list[Array]:
                (seen,), (hidden,) = function(inputs, *roundings), function(clean, *roundings)
                return [np.where(case.sees, seen, hidden)]

            return results

        program = captured_program(captured)
        assert program.exact is not None
        exact, eager = _unfused(joined(program.exact)), joined(program.rounded)

        def rounded(_: Sequence[Array]) -> list[Array]:
            (wide,), (own,) = exact([]), eager([])
            same = np.isfinite(own.astype(np.float64)) == np.isfinite(wide)
            return [np.where(same, own, wide.astype(own.dtype))]

        self._rounded: Function = rounded if case.is_poisoned else eager
        judged = replace(
            program,
            exact=exact,
            perturbed=joined(program.perturbed),
            rounded=self._rounded,
            coarse=None if program.coarse is None else joined(program.coarse),
        )
        self._judge = Judge(judged, clean)

    def problem(self, results: Sequence[Array]) -> str:
        """Return the reason why results are wrong; empty if they are right."""
        (result,) = results
        allowed = self.case.may_be_nan & np.isnan(result.astype(np.float64))
        if allowed.any():
            (right,) = self._rounded([])
            result = np.where(allowed, right, result)
        return self._judge.problem([result])


def _unfused(function: Function) -> Function:
    """Return a version of `function` in which PyTorch calls no fused kernel for attention."""

    def results(arrays: Sequence[Array]) -> list[Array]:
        with sdpa_kernel(SDPBackend.MATH):
            return function(arrays)

    return results


def drawn_case(seed: int, *, is_long: bool = False) -> Case:
    """Return a random case, with long heads on request."""
    return _Drawing(seed, *((FEW, LONG) if is_long else (LENGTHS, SIZES))).case()


class _Drawing:
    def __init__(self, seed: int, lengths: Sequence[int], sizes: Sequence[int]):
        self.draw, self.generator = Random(seed), torch.Generator().manual_seed(seed)
        one = self.draw.choice
        self.rows, self.keys, self.size = one(lengths), one(lengths), one(sizes)
        self.columns = one((self.size, self.size, *SIZES))
        self.dtype = one(DTYPES)
        work = self.rows * self.keys * (self.size + self.columns)
        possible = [n for n in range(1, 5) if n * work <= STEPS] or [1]
        heads, self.batch = one(possible), 1 + (2 * max(possible) * work <= STEPS and one((0, 1)))
        group = one((1, 1, 2, 4))
        self.group = group if group * work <= STEPS else 1
        self.heads_of_keys = max(1, heads // self.group)
        is_fused, mask = one((True, False)), one(MASKS)
        # With four dimensions PyTorch scales the minus infinity of a causal mask, too.
        negative = 0.1 if is_fused and mask == "causal" else -0.2
        self.form = Form(
            is_fused,
            mask,
            one((None, self.size**-0.5, negative)),
            "" if self.group == 1 else one(GROUPED if is_fused else GROUPED[1:]),
            self.group,
            has_wide_softmax=not is_fused and one((True, False)),
        )

    @property
    def heads(self) -> int:
        """Heads of the queries."""
        return self.heads_of_keys * self.group

    def case(self) -> Case:
        """Draw the inputs, and return the case."""
        of_keys = self.batch, self.heads_of_keys, self.keys
        q = self._normal(self.batch, self.heads, self.rows, self.size)
        k, v = self._normal(*of_keys, self.size), self._normal(*of_keys, self.columns)
        masks, visible = self._mask()
        shape = self.batch, self.heads, self.rows, self.columns
        sees, may_be_nan = np.ones(shape, bool), np.zeros(shape, bool)
        clean, number = [q, k, v, *masks], self.draw.choice((None, None, LARGE, nan, inf, -inf))
        inputs, at, place = clean, self.draw.randrange(self.keys), ""
        if number == LARGE:
            k[0, 0, at] *= LARGE
            place = f"key {at} large"
        elif number is not None:
            # The smallest weights are not rounded to 0, whose product with infinity is NaN.
            self.form = self.form._replace(scale=self.size**-0.5)
            which = self.draw.choice((1, 2))
            inputs = [tensor.clone() for tensor in clean]
            element = self.draw.randrange(inputs[which].shape[-1])
            inputs[which][0, 0, at, element] = number
            place = f"{'qkv'[which]}[0, 0, {at}, {element}] = {number}"
            if self.form.is_fused:
                sees = np.broadcast_to(visible[..., at, None].numpy(), shape)
                may_be_nan[0, : self.group] = ~sees[0, : self.group]
                is_value, is_element = which == 2, np.arange(self.columns) == element
                may_be_nan &= is_element if is_value else self.form.mask == "float"
        note = f"{self.form}, {[tuple(x.shape) for x in inputs]}, {self.dtype}, {place}"
        target, sums = self.draw.choice(TARGETS), self.draw.choice([*MatrixSums])
        return Case(self.form, inputs, clean, sees, may_be_nan, target, sums, note)

    def _normal(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.generator).to(self.dtype)

    def _mask(self) -> tuple[list[Tensor], Tensor]:
        """Return the mask if it is an input, and the keys that each row sees."""
        shape = self.rows, self.keys
        all_heads = (self.batch, self.heads, *shape)
        if self.form.mask == "window":
            return [], _window(*shape).expand(all_heads)
        if self.form.mask in ("none", "causal"):
            ones = torch.ones(shape, dtype=torch.bool)
            return [], (ones if self.form.mask == "none" else ones.tril()).expand(all_heads)
        choices = shape, (self.batch, 1, *shape), all_heads, (1, 1, 1, self.keys)
        shape = self.draw.choice(choices)
        kept = torch.rand(shape, generator=self.generator) > self.draw.choice((0.2, 0.5, 0.9))
        kept[..., self.draw.randrange(shape[-2]), :] = False  # a row that sees no key
        if self.form.mask == "bool":
            return [kept], kept.expand(all_heads)
        added = torch.randn(shape, generator=self.generator).masked_fill(~kept, -inf)
        return [added.to(self.dtype)], kept.expand(all_heads)
