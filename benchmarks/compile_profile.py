# SPDX-License-Identifier: Apache-2.0
"""
Profile of the compiler's time, by pass and by function.

The CPU seconds of passes are measured in a separate run, because profiling slows small functions
down. The numbers of calls do not depend on the machine.
"""

import cProfile
import os
import site
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import process_time
from types import CodeType
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.frontend.capture import Captured
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager

MOST_FUNCTIONS = 40
"""Maximum number of lines in the table of functions."""

VERIFICATION = "(verification)"


class PassClock(PassManager):
    """
    Pass manager that sums up the CPU seconds of each pass; verification is counted separately.
    """

    def __init__(self, seconds: defaultdict[str, float]):
        super().__init__(context(), verify_each=False)
        self._seconds = seconds
        self._last = process_time()

    def verify(self, module: ModuleOp, made_by: str) -> None:
        self._lap(made_by)
        super().verify(module, made_by)
        self._lap(VERIFICATION)

    def finished(self, step: ModulePass, module: ModuleOp, seconds: float) -> None:
        self._lap(step.name)

    def _lap(self, what: str) -> None:
        """
        Add the CPU seconds since the last call of this method to the sum of `what`; drop them if
        `what` is empty.
        """
        now = process_time()
        if what:
            self._seconds[what] += now - self._last
        self._last = now


def profile(programs: Sequence[Captured], level: Level) -> str:
    """Return the tables of passes and of functions for lowering `programs`."""
    seconds = defaultdict[str, float](float)
    for program in programs:
        lower(program.module, level, PassClock(seconds))
    profiler = cProfile.Profile()
    with profiler:
        for program in programs:
            lower(program.module, level)
    return "\n".join([*_of_passes(seconds), "", *_of_functions(profiler), ""])


def _of_passes(seconds: defaultdict[str, float]) -> Iterable[str]:
    total = sum(seconds.values())
    yield f"{'CPU s':>8} {'share':>6}  pass"
    for name, spent in sorted(seconds.items(), key=lambda named: (-named[1], named[0])):
        yield f"{spent:8.3f} {spent / total:6.1%}  {name}"
    yield f"{total:8.3f} {1:6.1%}  all"


class Calls(NamedTuple):
    """Calls and times of all functions with one name, including generated code at one place."""

    calls: int = 0
    own_s: float = 0.0
    all_s: float = 0.0
    """CPU seconds in these functions and in the functions that they call."""

    def also(self, calls: int, own_s: float, all_s: float) -> "Calls":
        """Return the sum of these figures and those of another function of the same name."""
        return Calls(self.calls + calls, self.own_s + own_s, self.all_s + all_s)


def _of_functions(profiler: cProfile.Profile) -> Iterable[str]:
    """
    Yield the table of the functions with the longest own times; shares are of the profiled time.
    """
    found = defaultdict[str, Calls](Calls)
    for entry in profiler.getstats():
        name = _name(entry.code)
        found[name] = found[name].also(entry.callcount, entry.inlinetime, entry.totaltime)
    total = sum(calls.own_s for calls in found.values())
    yield f"{'calls':>10} {'own':>6} {'in all':>7}  function"
    heaviest = sorted(found.items(), key=lambda named: (-named[1].own_s, named[0]))
    for name, (calls, own, within) in heaviest[:MOST_FUNCTIONS]:
        yield f"{calls:10} {own / total:6.1%} {within / total:7.1%}  {name}"
    yield f"{sum(calls.calls for calls in found.values()):10} {1:6.1%} {'':7}  all"


def _name(code: CodeType | str) -> str:
    """
    Return the function's name after its file, without the folder of the repository or of installed
    packages.
    """
    if isinstance(code, str):
        return code
    path, root = Path(code.co_filename), Path(__file__).parent.parent
    for folder in (*map(Path, site.getsitepackages()), root, Path(os.__file__).parent):
        if path.is_relative_to(folder):
            path = path.relative_to(folder)
            break
    return f"{path.as_posix()}: {code.co_qualname}"
