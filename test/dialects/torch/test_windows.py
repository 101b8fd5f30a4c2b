# SPDX-License-Identifier: Apache-2.0
"""Windows compute the result of a walk over their positions in one step."""

from itertools import product

from tilewright.dialects.torch.windows import AdaptiveWindow, Window


def sees(window: Window, position: int) -> bool:
    """True if a window at `position` contains an element, found step by step."""
    first = position * window.stride - window.padding
    return any(0 <= first + n * window.dilation < window.size for n in range(window.steps))


def test_windows_that_see_only_padding():
    outcomes: set[bool] = set()
    shapes = product((1, 2, 5), (1, 2, 3, 4), (1, 2, 5), (1, 2, 4, 7), (0, 1))
    for size, steps, stride, dilation, ceil in shapes:
        for padding in range(steps // 2 + 1):
            rest = size + 2 * padding - dilation * (steps - 1) - 1 + ceil * (stride - 1)
            window = Window(size, rest // stride + 1, steps, stride, dilation, padding, padding)
            if window.positions < 1:
                continue
            seen = [sees(window, position) for position in range(window.positions)]
            assert [window.reads_any(position) for position in range(window.positions)] == seen
            assert window.reads_at_each_position() == all(seen), window
            outcomes.add(all(seen))
    assert outcomes == {False, True}


def test_the_longest_adaptive_window():
    for size, positions in product(range(1, 25), range(1, 25)):
        window = AdaptiveWindow(size, positions)
        bounds = [window.bounds(position) for position in range(positions)]
        assert window.steps == max(end - start for start, end in bounds)
    assert AdaptiveWindow(4, 0).steps == 0
