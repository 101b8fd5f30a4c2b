# SPDX-License-Identifier: Apache-2.0
"""
`torch.export` without work whose result is known or unused.

For each node, export builds a summary of the whole Python stack with the text of each line. It
keeps only the frames of functions called `forward`. For each program, it solves the constraints on
open sizes, even if no size is open.
"""

# pyright: reportPrivateUsage=false

import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from tilewright.frontend.replaced import replaced


@contextmanager
def faster_export() -> Generator[None]:
    """
    Make `torch.export` skip unused stack summaries and solved constraints within the `with` block,
    where it has the functions for them.
    """
    from torch.export import _trace
    from torch.fx import proxy

    with (
        replaced(proxy, "CapturedTraceback", lambda _: _Stack),
        replaced(_trace, "produce_guards_and_solve_constraints", _unless_all_are_known),
    ):
        yield


class _Stack:
    """
    Replacement of PyTorch's `CapturedTraceback` that reads only the frames that `torch.fx` may
    keep.
    """

    @staticmethod
    def extract() -> "_Stack":
        """Return an object whose `summary` reads the frames when it is called."""
        return _Stack()

    def summary(self) -> traceback.StackSummary:
        """
        Return the stack from the outermost function called `forward` inwards; source lines are read
        when needed.
        """
        frames = list[traceback.FrameSummary]()
        number, frame = 0, sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            frames.append(
                traceback.FrameSummary(
                    code.co_filename, frame.f_lineno, code.co_name, lookup_line=False
                )
            )
            if code.co_name == "forward":
                number = len(frames)
            frame = frame.f_back
        return traceback.StackSummary.from_list(frames[:number][::-1])


def _unless_all_are_known(solve: Callable[..., None]) -> Callable[..., None]:
    """
    Return a function that calls `solve`, which checks and solves constraints on sizes, only for
    programs with open sizes.
    """

    def solve_if_open(*, fake_mode: Any, **rest: Any) -> None:
        sizes = fake_mode.shape_env
        if getattr(sizes, "var_to_range", True):
            solve(fake_mode=fake_mode, **rest)
            return
        sizes.frozen = True

    return solve_if_open
