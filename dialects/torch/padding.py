# SPDX-License-Identifier: Apache-2.0
"""Torch ops that pad a tensor, or read windows that extend beyond it."""

from collections.abc import Sequence
from math import prod

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.conversion import check_holds
from tilewright.dialects.torch.op import (
    TensorOp,
    integers,
    number,
    opt_real,
    python_value,
    tensor,
    text,
    torch_op,
)
from tilewright.dialects.torch.promotion import i1
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of


def pads_of(pad: Sequence[int], rank: int) -> list[tuple[int, int]]:
    """
    Return the padding before and after each dimension; `pad` begins with the last dimension's pair.
    """
    if len(pad) % 2 or len(pad) > 2 * rank:
        raise VerifyException(
            f"pad {list(pad)} must hold two sizes for each of up to {rank} dimensions"
        )
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]


def _padded(shape: tuple[int, ...], pads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    result = tuple(n + before + after for n, (before, after) in zip(shape, pads, strict=True))
    if any(size < 0 for size in result):
        raise VerifyException(
            f"pad turns the shape {shown(shape)} into {list(result)}: sizes are at least 0"
        )
    return result


@torch_op("constant_pad_nd")
class ConstantPadOp(TensorOp):
    """
    The input padded with `value`; a negative padding crops.

    `pad` is (before, after) for the last dimension, then for the one before it, and so on.

        %1 = torch.constant_pad_nd %0 pad [1, -1] value 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    pad = integers()
    value = number(0)

    def result_shape(self) -> tuple[int, ...]:
        value = python_value(self.value)
        assert isinstance(value, int | float)
        check_holds(value, element_of(self.input))
        shape = shape_of(self.input)
        return _padded(shape, pads_of(self.pad.get_values(), len(shape)))


@torch_op("pad")
class PadOp(TensorOp):
    """
    The input padded with a constant, as by `constant_pad_nd`, or by `mode`.

    Modes continue the input: mirrored at the edge ("reflect"), with the edge element ("replicate"),
    or from the opposite end ("circular").

        %1 = torch.pad %0 pad [1, 2] mode "reflect" : (tensor<4x8xf32>) -> tensor<4x11xf32>
    """

    input = tensor()
    pad = integers()
    mode = text("constant")
    value = opt_real()

    def result_shape(self) -> tuple[int, ...]:
        shape, pad, mode = shape_of(self.input), self.pad.get_values(), self.mode.data
        result = _padded(shape, pads_of(pad, len(shape)))
        if mode == "constant":
            check_holds(0.0 if self.value is None else self.value.value.data, self.result_element())
            return result
        if mode not in _CHECKS:
            raise VerifyException(f'mode is "constant" or one of {[*_CHECKS]}, not "{mode}"')
        if self.value is not None and self.value.value.data != 0:
            raise VerifyException(f'mode "{mode}" takes no value')
        if len(pad) not in (2, 4, 6) or len(shape) - len(pad) // 2 not in (1, 2):
            raise VerifyException(
                f'mode "{mode}" pads the last one, two or three dimensions, with one or two before '
                f"them, not {len(pad) // 2} of {len(shape)}"
            )
        self._verify_edges(shape, result)
        return result

    def _verify_edges(self, shape: tuple[int, ...], result: tuple[int, ...]) -> None:
        mode, pads = self.mode.data, pads_of(self.pad.get_values(), len(shape))
        if mode != "circular" and element_of(self.input) == i1:
            raise VerifyException(f'mode "{mode}" does not take booleans')
        padded = range(len(shape) - len(self.pad.get_values()) // 2, len(shape))
        for dim in padded:
            if mode != "circular" and (not shape[dim] or not result[dim]):
                raise VerifyException(f'mode "{mode}" needs elements in dimension {dim}')
            _CHECKS[mode](shape[dim], *pads[dim])


def _check_reflect(size: int, before: int, after: int) -> None:
    if max(before, after) >= size:
        raise VerifyException(f'mode "reflect" pads by less than the dimension\'s size {size}')


def _check_replicate(size: int, before: int, after: int) -> None:
    """Accept any padding: the edge can be repeated any number of times."""


def _check_circular(size: int, before: int, after: int) -> None:
    left = size + min(before, 0) + min(after, 0)
    if max(before, after) > left:
        raise VerifyException(f'mode "circular" pads by at most the size {left} of the dimension')


_CHECKS = {
    "reflect": _check_reflect,
    "replicate": _check_replicate,
    "circular": _check_circular,
}


@torch_op("im2col")
class Im2colOp(TensorOp):
    """
    Windows of zero-padded images as columns.

    N x C x H x W becomes N x (C * kernel sizes) x (number of windows).

        %1 = torch.im2col %0 kernel_size [2, 2] dilation [1, 1] padding [1, 1] stride [1, 1]
            : (tensor<1x3x4x4xf32>) -> tensor<1x12x25xf32>
    """

    input = tensor()
    kernel_size = integers()
    dilation = integers()
    padding = integers()
    stride = integers()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        if len(shape) not in (3, 4) or 0 in shape[-3:]:
            raise VerifyException(f"im2col takes C x H x W or N x C x H x W, not {shown(shape)}")
        channels = shape[-3] * prod(pair(self.kernel_size.get_values()))
        return (*shape[:-3], channels, prod(self.windows()))

    def windows(self) -> list[int]:
        """Return the number of windows along H and along W."""
        arguments = (self.kernel_size, self.dilation, self.padding, self.stride)
        kernels, dilations, paddings, strides = (pair(a.get_values()) for a in arguments)
        if min(*kernels, *dilations, *strides) < 1 or min(paddings) < 0:
            raise VerifyException("sizes, dilation and stride are at least 1, padding 0")
        sizes = shape_of(self.input)[-2:]
        counts = [
            (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, dilation, padding, stride in zip(
                sizes, kernels, dilations, paddings, strides, strict=True
            )
        ]
        if min(counts) < 1:
            raise VerifyException(f"no window of kernel_size {kernels} fits in {shown(sizes)}")
        return counts


def pair(values: Sequence[int]) -> tuple[int, int]:
    """Return a number for each of two dimensions; a single number applies to both."""
    if len(values) not in (1, 2):
        raise VerifyException(f"{list(values)} must be one or two numbers")
    return values[0], values[-1]
