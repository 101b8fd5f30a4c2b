# SPDX-License-Identifier: Apache-2.0
"""A convolution is a contraction: positions are rows, output channels columns, groups a batch."""

import pytest
import torch
from torch import Tensor, nn

from tilewright import api
from tilewright.dialects import loop, tile
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import linearize, simplify
from tilewright.dialects.types import memref_type
from tilewright.passes.driver.lowering import context
from tilewright.passes.tile.tileify import TileifyPass

LINE, PLANE, VOLUME = (torch.randn(2, 4, *size) for size in ((19,), (7, 9), (3, 5, 6)))

CASES = [
    (nn.Conv1d(4, 8, 3, stride=2, dilation=2), LINE, "m n"),
    (nn.Conv2d(4, 8, 3, padding=1), PLANE, "m n"),
    (nn.Conv2d(4, 8, 3, padding=1), PLANE[0], "m n"),
    (nn.Conv2d(4, 8, (3, 2), stride=(2, 1), padding="valid"), PLANE, "m n"),
    (nn.Conv2d(4, 8, 3, padding="same", dilation=2), PLANE, "m n"),
    (nn.Conv3d(4, 8, 2, padding=1), VOLUME, "m n"),
    (nn.ConvTranspose1d(4, 8, 3, stride=2), LINE, "m n"),
    (nn.ConvTranspose2d(4, 8, 3, stride=2, padding=1), PLANE, "m n"),
    (nn.ConvTranspose3d(4, 8, 2), VOLUME, "m n"),
    (nn.Conv1d(4, 8, 3, groups=2), LINE, "batch m n"),
    (nn.Conv2d(4, 8, 3, groups=2, bias=False), PLANE, "batch m n"),
    (nn.Conv2d(4, 8, 3, groups=4, stride=2), PLANE, "batch m n"),
    (nn.Conv3d(4, 6, 2, groups=2), VOLUME, "batch m n"),
    (nn.ConvTranspose2d(4, 8, 3, groups=2), PLANE, "batch m n"),
    # A depthwise convolution has one output channel a group, therefore no columns.
    (nn.Conv2d(4, 4, 3, groups=4), PLANE, "row row row row"),
]


def launch_of(program: nn.Module, input: Tensor) -> tile.LaunchOp:
    """Return the launch of the only kernel that `program` is lowered to."""
    module = api.lower(api.capture(program, input), "loop")
    TileifyPass().apply(context(), module)
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    return launch


def addresses(launch: tile.LaunchOp) -> list[str]:
    """Return the row-major offset that each load reads; d0 is the first index of the load."""
    return [
        str(
            simplify(
                linearize(op.map.data.results, memref_type(op.memref).get_shape()),
                [range_of_value(index) for index in op.indices],
            )
        )
        for op in launch.walk()
        if isinstance(op, loop.LoadOp)
    ]


def roles(launch: tile.LaunchOp) -> str:
    return " ".join(axis.role for axis in launch.bound_axes())


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("program", "input", "expected"), CASES)
def test_roles_of_a_convolution(program: nn.Module, input: Tensor, expected: str):
    assert roles(launch_of(program, input)) == expected


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("program", "weight"),
    [
        (nn.Conv1d(4, 8, 3, bias=False), "((d0 * 12) + d1)"),
        (nn.Conv2d(4, 8, (3, 2), padding=1, bias=False), "((d0 * 24) + d1)"),
        (nn.Conv3d(4, 8, 2, stride=2, bias=False), "((d0 * 32) + d1)"),
        (nn.Conv2d(4, 8, 3, groups=2, bias=False), "(((d0 * 72) + (d1 * 18)) + d2)"),
    ],
)
def test_weights_are_read_in_a_row(program: nn.Module, weight: str):
    """Weights are read at linear offsets: only the address of the image needs divisions."""
    rank = len(next(program.parameters()).shape)
    input = {3: LINE, 4: PLANE, 5: VOLUME}[rank]
    assert addresses(launch_of(program, input))[1] == weight


class Product(nn.Module):
    """Product that equals a 1x1 convolution."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("nkyx,ck->ncyx", x, self.weight)


def test_a_convolution_of_one_step_is_a_product():
    convolution = launch_of(nn.Conv2d(4, 8, 1, bias=False), PLANE)
    product = launch_of(Product(), PLANE)
    assert convolution.axes == product.axes
    assert roles(convolution) == "m n"
    assert [op.name for op in convolution.walk()] == [op.name for op in product.walk()]
    assert addresses(convolution) == addresses(product)
