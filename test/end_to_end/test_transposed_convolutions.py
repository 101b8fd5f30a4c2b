# SPDX-License-Identifier: Apache-2.0
"""Drawn transposed convolutions, interpreted at all levels and simulated, agree with PyTorch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from draws import drawn
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from torch import nn

from tilewright import api
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.interpreters.host import interpret

_NAMES = {1: "conv_transpose1d", 2: "conv_transpose2d", 3: "conv_transpose3d"}
_TOLERANCE = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


@dataclass(frozen=True)
class Dim:
    """Arguments of a transposed convolution along one dimension."""

    size: int
    kernel: int
    stride: int = 1
    padding: int = 0
    extra: int = 0
    dilation: int = 1

    @property
    def is_valid(self) -> bool:
        """True if PyTorch accepts the arguments."""
        reach = self.dilation * (self.kernel - 1) + self.extra + 1
        positions = (self.size - 1) * self.stride - 2 * self.padding + reach
        return self.extra < max(self.stride, self.dilation) and positions > 0


@dataclass(frozen=True)
class Case:
    """A transposed convolution, and what follows it."""

    dims: tuple[Dim, ...]
    channels: tuple[int, int, int] = (1, 3, 2)
    """Groups, and channels of input and result in each."""
    dtype: str = "float32"
    is_biased: bool = True
    ends: bool = False
    """True if an activation follows."""

    def __call__(self, input: Any, weight: Any, bias: Any) -> Any:
        apply = getattr(torch.nn.functional, _NAMES[len(self.dims)])
        arguments = zip(*((d.stride, d.padding, d.extra) for d in self.dims), strict=True)
        dilation = tuple(d.dilation for d in self.dims)
        added = bias if self.is_biased else None
        result = apply(input, weight, added, *arguments, self.channels[0], dilation)
        return torch.relu(result) + input.flatten()[0] if self.ends else result

    def inputs(self) -> list[Any]:
        """Return an input, a weight and a bias."""
        generator = torch.Generator().manual_seed(0)
        groups, taken, given_ = self.channels
        shapes = (
            (2, groups * taken, *(d.size for d in self.dims)),
            (groups * taken, given_, *(d.kernel for d in self.dims)),
            (groups * given_,),
        )
        type = getattr(torch, self.dtype)
        return [torch.randn(shape, generator=generator).to(type) for shape in shapes]


class _Program(nn.Module):
    def __init__(self, case: Case):
        super().__init__()
        self.case = case

    def forward(self, input: Any, weight: Any, bias: Any) -> Any:
        return self.case(input, weight, bias)


small = st.integers(1, 3)
a_dim = st.builds(
    Dim, st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3),
    st.integers(0, 2), st.integers(1, 4),
).filter(lambda dim: dim.is_valid)  # fmt: skip


@given(
    dims=st.lists(a_dim, min_size=1, max_size=3),
    channels=st.tuples(small, small, small),
    is_biased=st.booleans(),
    ends=st.booleans(),
)
@example([Dim(3, 3, 2, 1), Dim(2, 3, 2, 1), Dim(3, 3, 2, 1)], (1, 2, 3), True, True)
@example([Dim(2, 3, 2, 1, 0, 2), Dim(3, 3, 2, 1, 0, 2)], (2, 2, 3), True, True)
@example([Dim(3, 4, 5, 3, 1, 3)], (1, 2, 1), False, False)
@settings(max_examples=drawn(60), print_blob=True, suppress_health_check=[HealthCheck.too_slow])
def test_interpreted_at_all_levels(
    dims: list[Dim], channels: tuple[int, int, int], is_biased: bool, ends: bool
):
    assume(np.prod([dim.size * dim.kernel * dim.stride for dim in dims]) < 4000)
    case = Case(tuple(dims), channels, is_biased=is_biased, ends=ends)
    inputs = case.inputs()
    expected = case(*(input.double() for input in inputs)).numpy()
    module = api.capture(_Program(case), *inputs)
    for level in ("tensor", "loop", "tile", "kernel"):
        lowered = api.lower(module, level, "sm_90a")
        (got,) = interpret(lowered, *map(array_of, inputs), dtype=np.float64)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10, err_msg=level)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "case",
    [
        Case((Dim(9, 3, 2, 1),), (1, 20, 9)),
        Case((Dim(17, 4, 2, 1),), (1, 16, 24), "bfloat16", ends=True),
        Case((Dim(5, 3, 2, 1, 1), Dim(6, 3, 2, 1, 1)), (1, 32, 17), "float16"),
        Case((Dim(4, 3, 3, 2), Dim(5, 2, 2)), (2, 16, 16), ends=True),
        Case((Dim(4, 3, 2, 1, 0, 2), Dim(5, 3, 2, 1, 1, 2)), (1, 16, 16)),
        Case((Dim(3, 3, 2, 1), Dim(4, 3, 2, 1), Dim(5, 3, 2, 1)), (1, 16, 8)),
        Case((Dim(3, 3, 5, 1, 0, 2), Dim(4, 3, 5, 1, 0, 2)), (1, 8, 8), "bfloat16"),
        Case((Dim(5, 5, 3, 2), Dim(9, 3, 1, 1)), (4, 1, 1), is_biased=False),
    ],
    ids=lambda case: f"{len(case.dims)}d-{'x'.join(map(str, case.channels))}-{case.dtype}",
)
def test_simulated(case: Case):
    inputs = case.inputs()
    module = api.lower(api.capture(_Program(case), *inputs), "cuda", "sm_90a")
    execution = SimulatorBackend("sm_90a").run(plan_of(module), [*map(array_of, inputs)])
    assert execution.problems == []
    expected = case(*(input.double() for input in inputs)).numpy()
    tolerance = _TOLERANCE[case.dtype] * max(1.0, float(np.abs(expected).max()))
    got = np.asarray(execution.results[0]).astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
