# SPDX-License-Identifier: Apache-2.0
"""
Windows that move along a dimension in convolutions and poolings: their elements and positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Window:
    """
    Window along a dimension of `size` elements, as a convolution moves it.

    Step k of the window at position p reads element p * stride + k * dilation - padding. `padding`
    is before the elements, `high` is the padding after them.
    """

    size: int
    positions: int
    steps: int
    stride: int
    dilation: int
    padding: int
    high: int

    def reads_any(self, position: int) -> bool:
        """True if any step of the window at `position` reads an element, not padding."""
        first = position * self.stride - self.padding
        step = max(0, -(first // self.dilation))  # first step not before the elements
        return step < self.steps and first + step * self.dilation < self.size

    def reads_at_each_position(self) -> bool:
        """
        True if the window reads an element at each of its positions (`reads_any`). The padding must
        be at most half the steps.

        Positions that begin within the elements read one. Of the positions before, checking the
        first suffices, unless the dilation jumps over all elements. Then the padding holds at most
        two positions.
        """
        before = min(self.positions, -(-self.padding // self.stride), 2)
        last = (self.positions - 1) * self.stride - self.padding
        return last < self.size and all(map(self.reads_any, range(before)))


@dataclass(frozen=True)
class TransposedWindow:
    """
    Window along a dimension of `size` elements, as a transposed convolution moves it.

    Step k at position p reads element (p + padding - k * dilation) / stride, if that is the
    position of an element.
    """

    size: int
    positions: int
    steps: int
    stride: int
    dilation: int
    padding: int


@dataclass(frozen=True)
class AdaptiveWindow:
    """
    Windows that cut a dimension of `size` elements into `positions` nearly equal parts.

    Window p holds the elements from floor(p * size / positions) up to ceil((p + 1) * size /
    positions), excluded.
    """

    size: int
    positions: int

    def bounds(self, position: int) -> tuple[int, int]:
        """Return the first element of the window at `position`, and the element after its last."""
        end = -(-(position + 1) * self.size // self.positions)
        return position * self.size // self.positions, end

    @property
    def steps(self) -> int:
        """Number of elements of the longest window."""
        if not self.positions:
            return 0
        whole, rest = divmod(self.size, self.positions)
        # bounds are rounded outwards, by every multiple of `rounded` below `positions`
        rounded = gcd(rest, self.positions)
        return whole + (rest > 0) + (rest > rounded)


def per_dim(values: DenseArrayBase[IntegerType], dims: int, name: str) -> tuple[int, ...]:
    """Return an argument's value for each dimension; a single value applies to all."""
    given = tuple(values.get_values())
    if len(given) not in (1, dims):
        raise VerifyException(f"{name} {list(given)} must have {dims} values, or one")
    return given * dims if len(given) == 1 else given


def check_least(values: Sequence[int], least: int, name: str) -> None:
    """Raise `VerifyException` if a value is below `least`."""
    if any(value < least for value in values):
        raise VerifyException(f"{name} {list(values)} must be at least {least}")


Move = tuple[int, int, int, int]
"""Size, kernel size, stride and dilation of a dimension."""


def convolution_windows(moves: Sequence[Move], padding: Sequence[tuple[int, int]]) -> list[Window]:
    """
    Return the window of each dimension of a convolution; `padding` is (before, after) of each.
    """
    windows: list[Window] = []
    for (size, steps, stride, dilation), (low, high) in zip(moves, padding, strict=True):
        rest = size + low + high - dilation * (steps - 1) - 1
        if rest < 0:
            raise VerifyException(
                f"a kernel of {steps} with dilation {dilation} does not fit in "
                f"{size + low + high} padded elements"
            )
        windows.append(Window(size, rest // stride + 1, steps, stride, dilation, low, high))
    return windows


def transposed_windows(
    moves: Sequence[Move], padding: Sequence[int], output_padding: Sequence[int]
) -> list[TransposedWindow]:
    """
    Return the window of each dimension of a transposed convolution.

    `padding` is removed from both sides of the result, and `output_padding` added at its end.
    """
    windows: list[TransposedWindow] = []
    for (size, steps, stride, dilation), low, extra in zip(
        moves, padding, output_padding, strict=True
    ):
        if not 0 <= extra < max(stride, dilation):
            raise VerifyException(f"output_padding {extra} must be below stride or dilation")
        positions = (size - 1) * stride - 2 * low + dilation * (steps - 1) + extra + 1
        if positions < 1:
            raise VerifyException(f"the result would have the size {positions}")
        windows.append(TransposedWindow(size, positions, steps, stride, dilation, low))
    return windows
