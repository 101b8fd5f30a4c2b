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

A transposed convolution with a stride is computed by the phases of its positions (`phases.py`):
one product over the steps of each phase, whose results are then interleaved.
"""

from collections.abc import Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.torch.windows import TransposedWindow
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.phases import Phases, pays
from tilewright.passes.decompose.rounded_product import flagged_product, rounded_factor
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.windows import AnyWindow, masked, place


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
        shape = op.result_shape()
        phased = _phases(windows)
        if phased and all(shape):
            result = _sum_by_phases(op, input, weight, phased)
        else:
            result = _sum(op, input, weight, windows)
        if op.bias is None:
            return result
        channels = shape[len(shape) - len(windows) - 1]
        return result + emit(op.bias).reshape((channels, *(1 for _ in windows)))


class _Channels:
    """Axes of a convolution's iteration space without those of its windows."""

    def __init__(self, op: torch.ConvolutionLikeOp, input: Tensor):
        shape, groups = op.result_shape(), op.channel_groups()
        *self.batch, self.channels = shape[: len(shape) - len(op.windows())]
        self.taken, self.given = input.shape[len(self.batch)] // groups, self.channels // groups
        self.domain = _Domain()
        self.items = [self.domain.axis(size) for size in self.batch]
        self.group = self.domain.axis_if_any(groups)
        self.output = (
            self.domain.axis(self.given) if groups == 1 else self.domain.axis_if_any(self.given)
        )

    def taps(
        self, op: torch.ConvolutionLikeOp, channel: AffineExpr, steps: Sequence[AffineExpr]
    ) -> list[AffineExpr]:
        """Return the subscripts of the weight."""
        if op.is_transposed:
            return [self.group * self.taken + channel, self.output, *steps]
        return [self.group * self.given + self.output, channel, *steps]


def _sum(
    op: torch.ConvolutionLikeOp, input: Tensor, weight: Tensor, windows: Sequence[AnyWindow]
) -> Tensor:
    """Return the sum of `input * weight` over input channels and all steps of the windows."""
    axes = _Channels(op, input)
    domain = axes.domain
    positions = [domain.axis(window.positions) for window in windows]
    kept = len(domain.shape)
    channel = domain.axis_if_any(axes.taken)
    steps = [domain.axis_if_any(window.steps) for window in windows]

    places = [place(*of_dim) for of_dim in zip(windows, positions, steps, strict=True)]
    elements = [*axes.items, axes.group * axes.taken + channel, *(p.element for p in places)]
    bounds = [bound for place in places for bound in place.bounds]
    taps = axes.taps(op, channel, steps)
    seen = masked(rounded_factor(input), elements, bounds, domain.shape, 0)
    products = flagged_product(seen, rounded_factor(weight).view(taps, domain.shape))
    return products.sum(range(kept, len(domain.shape))).reshape(op.result_shape())


def _phases(windows: Sequence[AnyWindow]) -> list[Phases]:
    """Return the phases of each window, if summing by phases pays; else nothing."""
    phases = [Phases(window) for window in windows if isinstance(window, TransposedWindow)]
    return phases if pays(phases) else []


def _sum_by_phases(
    op: torch.ConvolutionLikeOp, input: Tensor, weight: Tensor, phases: Sequence[Phases]
) -> Tensor:
    """Return the same sum over the steps of each phase, whose results are then interleaved."""
    axes = _Channels(op, input)
    domain = axes.domain
    places = [(domain.axis(p.quotients), domain.axis_if_any(p.count)) for p in phases]
    kept = domain.shape
    channel = domain.axis_if_any(axes.taken)
    steps = [domain.axis_if_any(p.steps) for p in phases]

    read = [
        p.element(quotient, phase, step)
        for p, (quotient, phase), step in zip(phases, places, steps, strict=True)
    ]
    sizes = [p.window.size for p in phases]
    bounds = [b for e, size in zip(read, sizes, strict=True) for b in (e, e * -1 + (size - 1))]
    elements = [*axes.items, axes.group * axes.taken + channel, *read]
    seen = masked(rounded_factor(input), elements, bounds, domain.shape, 0)

    at = [(p, phase, step) for p, (_, phase), step in zip(phases, places, steps, strict=True)]
    taps = axes.taps(op, channel, [p.tap(phase, step) for p, phase, step in at])
    exist = [p.tap(phase, step) * -1 + (p.window.steps - 1) for p, phase, step in at]
    products = flagged_product(seen, masked(rounded_factor(weight), taps, exist, domain.shape, 0))
    sums = products.sum(range(len(kept), len(domain.shape)))
    split = [size for p in phases for size in (p.quotients, p.count)]
    return _interleaved(sums.reshape((*axes.batch, axes.channels, *split)), op, phases)


def _interleaved(sums: Tensor, op: torch.ConvolutionLikeOp, phases: Sequence[Phases]) -> Tensor:
    """Return the results at all positions; those of phases without steps are zero."""
    shape = op.result_shape()
    dims = [AffineExpr.dimension(dim) for dim in range(len(shape))]
    first = len(shape) - len(phases)
    positions = dims[first:]
    places = [at for p, o in zip(phases, positions, strict=True) for at in p.at(o)]
    bounds = [p.has_steps(o) for p, o in zip(phases, positions, strict=True)]
    return masked(sums, [*dims[:first], *places], bounds, shape, 0)


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
