# SPDX-License-Identifier: Apache-2.0
"""Random convolutions at Loop IR: their results, and roles of the axes in spite of groups."""

import numpy as np
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.interpreters.host import interpret
from tilewright.passes.facts.nest import reducing_nest
from tilewright.passes.facts.roles import axis_roles

_CLASSES = {
    (1, False): nn.Conv1d,
    (2, False): nn.Conv2d,
    (1, True): nn.ConvTranspose1d,
    (2, True): nn.ConvTranspose2d,
}


@given(
    sizes=st.lists(st.integers(3, 7), min_size=1, max_size=2),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 2),
    padding=st.integers(0, 1),
    channels=st.tuples(st.integers(1, 3), st.integers(2, 3), st.integers(2, 3)),
    is_transposed=st.booleans(),
)
@settings(max_examples=12, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
def test_drawn_convolutions(
    sizes: list[int],
    kernel: int,
    stride: int,
    padding: int,
    channels: tuple[int, int, int],
    is_transposed: bool,
):
    assume(padding < kernel)
    groups, taken, given_ = channels
    make = _CLASSES[len(sizes), is_transposed]
    generator = torch.Generator().manual_seed(0)
    program = make(groups * taken, groups * given_, kernel, stride, padding, groups=groups)
    for parameter in program.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    input = torch.randn(2, groups * taken, *sizes, generator=generator)
    module = api.lower(api.capture(program, input), "loop")

    (kernel_op,) = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    nest = reducing_nest(kernel_op)
    assert nest is not None
    expected = [Role.BATCH] * (groups > 1) + [Role.M, Role.N]
    assert axis_roles(nest.body.block) == expected

    arrays = [value.detach().numpy() for value in (*program.parameters(), input)]
    (result,) = interpret(module, *arrays, dtype=np.float64)
    reference: Tensor = program.double()(input.double())
    np.testing.assert_allclose(result, reference.detach().numpy(), rtol=1e-12, atol=1e-12)
