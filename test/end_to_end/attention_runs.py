# SPDX-License-Identifier: Apache-2.0
"""
Runs of random attention at three levels of IR and in the simulator, by the planner's schedule and
by random tilings of the planner.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from random import Random

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.api import interpret, lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.loop.fusion import ATTRIBUTE, FusionAttr
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.reporting.trace import Listener, listening

from .attention_cases import Array, Case, Judged, drawn_case
from .attention_schedules import tiled

SEEDS = (247, 38, 97, 20, 1, 292)
"""
Seeds of the cases that each run checks: small ones with each kind of mask, type, target and sharing
of heads. The first two find all planted bugs.
"""

Change = Callable[[ModuleOp], None]


def unchanged(module: ModuleOp) -> None:
    """Leave the Kernel IR as it is."""


LONG_SEEDS = (355,)
"""Seeds of the cases with long heads that each run checks: a small one."""


@lru_cache(maxsize=len(SEEDS))
def judged_case(seed: int, *, is_long: bool = False) -> tuple[Case, Judged, ModuleOp]:
    """Return a random case, with its right results and its Torch IR."""
    case = drawn_case(seed, is_long=is_long)
    captured = case.captured()
    return case, Judged(case, captured), captured.module


def problems(
    seed: int, *, simulated: bool = True, change: Change = unchanged, is_long: bool = False
) -> Iterator[str]:
    """
    Yield the reasons why results of a random case are wrong. `change` changes the Kernel IR, and
    the simulator is left out unless the case is `simulated`. Heads are long on request.
    """
    case, judged, module = judged_case(seed, is_long=is_long)
    print(f"seed {seed}: {case.note}, {case.target}, {case.matrix_sums}")
    nests = (_in_one_pass if is_long else _fused)(module, case.target)
    tiles = lower(nests, "tile", case.target, db=False)
    for level in (nests, tiles):
        yield from _problems(judged, lambda m=level: interpret(m, *case.arrays()))
    for steps, planned in [("planner", tiles), *tiled(nests, case.target, Random(seed))]:
        print(steps)
        kernel = lower(planned, "kernel", case.target, db=False)
        change(kernel)
        yield from _problems(
            judged,
            lambda m=kernel: interpret(m, *case.arrays(), matrix_sums=case.matrix_sums),
        )
        if simulated:
            yield from _simulated(case, judged, kernel)


def _fused(module: ModuleOp, target: str, requested: Sequence[str] = ()) -> ModuleOp:
    """Return a program at Loop IR, with the `requested` fusions."""
    copy = module.clone()
    if requested:
        copy.attributes[ATTRIBUTE] = FusionAttr.get(fused=requested)
    return lower(copy, "loop", target, db=False)


class _Declined(Listener[None]):
    """Fusions of scores with the weighing of values that do not pay, by the model."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def look(self, scope: Operation) -> None: ...

    def weighed(self, decision: str, fuses: bool, ratio: float) -> None:
        if decision.startswith(("fuse-rows", "fuse-scores")) and not fuses:
            self.names.append(decision)


def _in_one_pass(module: ModuleOp, target: str) -> ModuleOp:
    """Return a program at Loop IR that stores no scores, if that is legal."""
    requested: list[str] = []
    while True:
        with listening(declined := _Declined()):
            nests = _fused(module, target, requested)
        if not declined.names:
            return nests
        requested += declined.names


def _problems(judged: Judged, run: Callable[[], list[Array]]) -> Iterator[str]:
    try:
        results = run()
    except InterpreterError as err:
        yield str(err)
        return
    if problem := judged.problem(results):
        yield problem


def _simulated(case: Case, judged: Judged, kernel: ModuleOp) -> Iterator[str]:
    plan = plan_of(lower(kernel, "cuda", case.target, db=False))
    backend = SimulatorBackend(case.target, matrix_sums=case.matrix_sums)
    execution = backend.run(plan, case.arrays())
    yield from map(str, execution.problems)
    if problem := judged.problem(execution.results):
        yield problem
