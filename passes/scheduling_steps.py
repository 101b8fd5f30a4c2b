# SPDX-License-Identifier: Apache-2.0
"""
Table of the passes that schedule launches, one row each, in the order in which `to-tile` runs them.

A package adds a pass by a row of its own, which it registers as an entry point:

    [project.entry-points."tilewright.scheduling_steps"]
    swap-lanes = "my_package.swap_lanes:STEP"

The pass is then a step of `to-tile`, of `--schedule`, of `explain` and of the spaces that `tune`
searches. A kernel gets the step if a schedule names it, or if the step's cost is the lowest. All
other kernels are compiled as if the package were not installed.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, NamedTuple

from xdsl.transforms import get_all_passes as get_xdsl_passes

from tilewright.errors import UsageError, did_you_mean, one_line

STEP_GROUP = "tilewright.scheduling_steps"
"""Entry-point group in which packages register scheduling steps."""

FIRST, LAST = "tileify", "mark-unroll"
"""Names of the first and the last step of a schedule."""

PLAN = "plan-schedules"
"""
Name of the pass that plans the steps. Planned steps that name it are pins, and it plans the rest.
"""


class SchedulingStep(NamedTuple):
    """
    Row of a pass that schedules launches. A string such as `package.module:name` is the path of an
    object.
    """

    name: str
    """Name of the pass in pipelines."""
    path: str
    """Path of the pass's class, which derives from `SchedulingPass`."""
    after: str = ""
    """Step after which this one runs; steps after the same one run in the order of their names."""
    operands: Sequence[str] = ()
    """
    Options that list operands by name (`raw=x,w`). A schedule that is reused for an equal kernel
    gets the operands' names in that kernel.
    """
    slabs: Sequence[str] = ()
    """Options that list slabs by name; a reused schedule gets the slabs' names in its kernel."""
    may_be_left_out: bool | str = True
    """True if a schedule may omit the step; or the path of a predicate on launches."""
    taste: str = ""
    """
    Path of a module of heuristics. Its function `prefer` returns the pass with all options, the
    best guess first. The module may have a function `reason_to_skip`.
    """
    cost: str = ""
    """
    Path of a function that ranks choices instead of taste. The function takes the pass with its
    options (None: without the pass), the launch and the GPU (`Target`). The choice with the lowest
    returned number wins.

    A step of a package without taste and cost takes the first possible options, and the planner
    never adds it.
    """

    @property
    def is_offered(self) -> bool:
        """True if kernels may get the step although no schedule names it."""
        return bool(self.taste or self.cost)

    def can_be_left_out(self, launch: Any) -> bool:
        """True if a schedule of the launch may omit the step."""
        answer = self.may_be_left_out
        return answer if isinstance(answer, bool) else self.resolved(answer)(launch)

    def resolved(self, path: str) -> Any:
        """
        Return the object that a path of this row names.

        Raises `UsageError` if there is none, or if its module cannot be imported.
        """
        try:
            return resolve_name(path)
        except Exception as err:  # any exception: the code is a package's
            problem = f"the scheduling step '{self.name}' names '{path}', but {one_line(err)}"
            raise UsageError(problem, remedy="fix or uninstall its package") from err


_TEXTS = ("name", "path", "after", "taste", "cost")
_TILE = "tilewright.passes.tile"


def _own_row(name: str, *, has_taste: bool = True, **more: Any) -> SchedulingStep:
    """Return the row of a pass of this repository; its file, class and taste are named after it."""
    module = name.replace("-", "_")
    path = f"{_TILE}.{module}:{module.title().replace('_', '')}Pass"
    return SchedulingStep(name, path, taste=f"{_TILE}.taste.{module}" if has_taste else "", **more)


STEPS = (
    _own_row("chunk-matmul-k"),
    _own_row("split-matmul-k"),
    # Rows that threads share get their threads from cooperative-reduce instead.
    _own_row("blockify-launch", may_be_left_out=f"{_TILE}.row_facts:rows_are_cooperative"),
    _own_row("cooperative-reduce", may_be_left_out=f"{_TILE}.row_facts:has_threads"),
    _own_row("share-scores", has_taste=False),
    _own_row("chunk-reduce"),
    _own_row("stage-inputs", operands=("raw", "computed", "none", "transposed")),
    _own_row("register-tile", may_be_left_out=f"{_TILE}.row_facts:has_few_threads"),
    _own_row("tensor-core"),
    _own_row("permute-register-tile"),
    _own_row("double-buffer", has_taste=False),
    _own_row("tma-copy", slabs=("slabs",)),
    _own_row("split-inner-for-swizzle", slabs=("slabs", "lines_first")),
    _own_row("async-copy", has_taste=False),
    _own_row("pad-smem", slabs=("slabs",)),
    _own_row("pipeline-k-outer"),
    _own_row(LAST, may_be_left_out=False),
)


@cache
def scheduling_steps() -> tuple[SchedulingStep, ...]:
    """
    Return the steps of this repository and of installed packages, in the order in which they run.

    Raises `UsageError` if an entry point is not a row, or if its row has no place in this order.
    """
    ours = {step.name: step for step in STEPS}
    added = _added([FIRST, *ours])
    ordered = [*_steps_after(FIRST, added)]
    for step in STEPS:
        ordered += [step, *_steps_after(step.name, added)]
    if lost := [step for step in added if step not in ordered]:
        names = " and ".join(f"'{step.name}'" for step in lost)
        raise UsageError(f"scheduling steps of packages run after each other: {names}")
    return tuple(ordered)


def steps_in_order() -> list[str]:
    """Return the names of the first step and of all others, in the order in which they run."""
    return [FIRST, *(step.name for step in scheduling_steps())]


@cache
def added_steps() -> tuple[SchedulingStep, ...]:
    """Return the steps of installed packages, in the order in which they run."""
    return tuple(step for step in scheduling_steps() if step not in STEPS)


@cache
def step_named(name: str) -> SchedulingStep | None:
    """Return the step of the pass called `name`, or None if the pass does not schedule launches."""
    return next((step for step in scheduling_steps() if step.name == name), None)


def _added(known: Sequence[str]) -> list[SchedulingStep]:
    """
    Return the rows of installed packages, sorted by name. Raises `UsageError` for a row whose name
    is taken, or whose `after` is not a step.
    """
    points = sorted(entry_points(group=STEP_GROUP), key=lambda point: point.name)
    added = [loaded_step(point) for point in points]
    names = [*known, *(step.name for step in added)]
    for point, step in zip(points, added, strict=True):
        if names.count(step.name) > 1 or step.name in get_xdsl_passes():
            raise _refused(point, f"there is another pass '{step.name}'")
        if step.after == LAST:
            raise _refused(point, f"'{LAST}' closes a schedule: no step runs after it")
        if step.after == step.name:
            raise _refused(point, "it runs after itself")
        if step.after not in names:
            remedy = did_you_mean(step.after, names) or f"there are: {', '.join(known[:-1])}"
            raise _refused(point, f"it runs after '{step.after}', which is no step", remedy)
    return added


def loaded_step(point: EntryPoint) -> SchedulingStep:
    """Return the row that a package registers; raise `UsageError` if it is not a valid row."""
    try:
        step = point.load()
    except Exception as err:  # any exception: the code is a package's
        raise _refused(point, one_line(err)) from err
    if not isinstance(step, SchedulingStep):
        raise _refused(point, "it is not a SchedulingStep")
    if wrong := [name for name in _TEXTS if not isinstance(getattr(step, name), str)]:
        raise _refused(point, f"its '{wrong[0]}' is not a string such as 'package.module:name'")
    if step.name != point.name:
        raise _refused(point, f"calls itself '{step.name}'")
    return step


def _refused(point: EntryPoint, why: str, remedy: str | None = None) -> UsageError:
    what = f"'{point.value}' is announced as scheduling step '{point.name}', but {why}"
    return UsageError(what, remedy=remedy or "fix or uninstall that package")


def _steps_after(name: str, added: Sequence[SchedulingStep]) -> Iterator[SchedulingStep]:
    """Yield the added steps that run after the step `name`, each followed by the steps after it."""
    for step in added:
        if step.after == name:
            yield step
            yield from _steps_after(step.name, added)
