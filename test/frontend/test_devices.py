# SPDX-License-Identifier: Apache-2.0
"""Models on the device meta, which have no values, compile; running them is refused."""

import pytest
import torch
from torch import nn

import tilewright
from tilewright.errors import UsageError


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("tracked", [True, False])
def test_a_batch_norm_is_the_same_as_on_a_cpu(dtype: torch.dtype, tracked: bool):
    # On that device, PyTorch gives the unused statistics another size or dtype.
    module = nn.BatchNorm1d(4, track_running_stats=tracked).to(dtype)
    x = torch.randn(2, 4, 3, dtype=dtype)
    there = tilewright.capture(module.to("meta"), x.to("meta"))
    here = tilewright.capture(module.to_empty(device="cpu"), x)
    assert str(there.module) == str(here.module)


def test_a_call_needs_values():
    module, x = nn.Linear(4, 4, device="meta"), torch.empty(2, 4, device="meta")
    program = tilewright.compile(module, x)
    assert "__global__" in program.cuda_source
    with pytest.raises(UsageError, match="'weight' is on the device meta"):
        program(torch.zeros(2, 4))
