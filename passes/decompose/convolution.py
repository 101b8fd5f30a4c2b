# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of convolutions: contractions whose input is viewed through a moving window.

    %2 = torch.conv1d %0, %1 padding [1]
        : (tensor<2x4x16xf32>, tensor<8x4x3xf32>) -> tensor<2x8x16xf32>

becomes, over the domain (batch, output channel, position, input channel, step),

    %x = prim.index_map %0 by affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4 - 1)>
        where affine_map<(d0, d1, d2, d3, d4) -> (d2 + d4 - 1, -d2 - d4 + 16)>
        else 0.000000e+00 : f32 : tensor<2x4x16xf32> -> tensor<2x8x16x4x3xf32>
    %w = prim.index_map %1 by affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
        : tensor<8x4x3xf32> -> tensor<2x8x16x4x3xf32>
    %p = prim.elementwise mul(%x, %w) : tensor<2x8x16x4x3xf32>
    %2 = prim.reduce add(%p) dims [3, 4] : (tensor<2x8x16x4x3xf32>) -> tensor<2x8x16xf32>

Axes of one step are left out: a convolution with a 1x1 window is a matrix product, and a depthwise
convolution sums over the window only. Without padding there is no mask.
"""

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.rounded_product import flagged_product, rounded_factor
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.windows import masked, place


class _Domain:
    """Axes of an iteration space, in order."""

    def __init__(self):
        self.shape: tuple[int, ...] = ()

    def axis(self, size: int) -> AffineExpr:
        """Add an axis of `size` steps and return its expression."""
        self.shape += (size,)
        return AffineExpr.dimension(len(self.shape) - 1)

    def axis_if_any(self, size: int) -> AffineExpr:
        """Add an axis if it has several steps, and return its expression; return 0 for one step."""
        return AffineConstantExpr(0) if size == 1 else self.axis(size)


class Convolution(Decomposition[torch.ConvolutionLikeOp]):
    """
    Decomposition of convolutions: `input * weight`, summed over input channels and steps, plus the
    bias.
    """

    def decompose(self, op: torch.ConvolutionLikeOp, emit: Emitter) -> Tensor:
        input, weight, windows = emit(op.input), emit(op.weight), op.windows()
        shape, groups = op.result_shape(), op.channel_groups()
        *batch, channels = shape[: len(shape) - len(windows)]
        taken, given = input.shape[len(batch)] // groups, channels // groups

        domain = _Domain()
        items = [domain.axis(size) for size in batch]
        group = domain.axis_if_any(groups)
        output = domain.axis(given) if groups == 1 else domain.axis_if_any(given)
        positions = [domain.axis(window.positions) for window in windows]
        kept = len(domain.shape)
        channel = domain.axis_if_any(taken)
        steps = [domain.axis_if_any(window.steps) for window in windows]

        places = [place(*of_dim) for of_dim in zip(windows, positions, steps, strict=True)]
        elements = [*items, group * taken + channel, *(place.element for place in places)]
        bounds = [bound for place in places for bound in place.bounds]
        taps = (
            [group * taken + channel, output, *steps]
            if op.is_transposed
            else [group * given + output, channel, *steps]
        )
        seen = masked(rounded_factor(input), elements, bounds, domain.shape, 0)
        products = flagged_product(seen, rounded_factor(weight).view(taps, domain.shape))
        result = products.sum(range(kept, len(domain.shape))).reshape(shape)
        if op.bias is None:
            return result
        return result + emit(op.bias).reshape((channels, *(1 for _ in windows)))


PATTERNS: Table = {
    op: Convolution()
    for op in (
        torch.Conv1dOp,
        torch.Conv2dOp,
        torch.Conv3dOp,
        torch.Conv1dPaddingOp,
        torch.Conv2dPaddingOp,
        torch.Conv3dPaddingOp,
        torch.ConvTranspose1dOp,
        torch.ConvTranspose2dOp,
        torch.ConvTranspose3dOp,
        torch.ConvolutionOp,
    )
}
