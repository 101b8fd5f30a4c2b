# SPDX-License-Identifier: Apache-2.0
"""A convolution is a contraction: positions are rows, output channels columns."""

import pytest
import torch
from torch import nn

from tilewright import api
from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.passes.lowering import context
from tilewright.passes.tile.tileify import TileifyPass


@pytest.mark.parametrize(
    ("program", "roles"),
    [
        (nn.Conv2d(4, 8, 3, padding=1), "m n m m"),
        (nn.Conv2d(4, 8, 1), "m n m m"),
        (nn.Conv2d(4, 4, 3, groups=4), "row row row row"),
    ],
)
def test_roles_of_a_convolution(program: nn.Module, roles: str):
    module = api.lower(api.capture(program, torch.randn(2, 4, 7, 9)), "loop")
    TileifyPass().apply(context(), module)
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    assert [axis.role for axis in launch.bound_axes()] == [Role(role) for role in roles.split()]
