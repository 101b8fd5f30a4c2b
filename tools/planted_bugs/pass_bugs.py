# SPDX-License-Identifier: Apache-2.0
"""
Bugs of passes, planted by rule in the kernels that passes return: wrong maps, masks, bounds and
orders, and dropped combines.

The bugs are those of `codegen.mutations` and of `tile_rules`. Roundings are left out: exact numbers
and proofs do not round.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.codegen.mutations import Mutation, mutations
from tilewright.dialects import kernel
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.loop import KernelOp, LoadOp, StoreOp
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.tile import launches_of
from tilewright.passes.driver.levels import Level, pipeline_between
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.passes.targeted_pass import for_target
from tilewright.tools.planted_bugs.planted import line_of
from tilewright.tools.planted_bugs.thread_bugs import exchanged_subscripts
from tilewright.tools.planted_bugs.tile_rules import BOUNDS, COMBINES, MAPS, ORDERS


class Class(StrEnum):
    """Class of a bug."""

    MAP = "map"
    MASK = "mask"
    BOUND = "bound"
    ORDER = "order"
    COMBINE = "combine"


@dataclass(frozen=True)
class PassResult:
    """Modules before and after a pass that changed them."""

    name: str
    """Name of the pass."""
    before: ModuleOp
    after: ModuleOp
    rest: Sequence[ModulePass]
    """Passes to Kernel IR that run after this one."""

    @property
    def level(self) -> Level:
        """Level of the kernels after the pass."""
        return Level.TILE if launches_of(self.after) else Level.KERNEL


class PassBug(NamedTuple):
    """Bug in the result of a pass."""

    result: PassResult
    kind: Class
    what: str
    line: str
    """First line of the op before the change."""
    module: ModuleOp
    """Result of the pass with the bug."""

    def __str__(self) -> str:
        return f"{self.kind} after {self.result.name}: {self.what}: {self.line}"


def pass_results(program: ModuleOp, target: str = DEFAULT_TARGET) -> Sequence[PassResult]:
    """Return the results of all passes from Loop IR to Kernel IR that change Tile or Kernel IR."""
    found, module = list[PassResult](), program.clone()
    passes = [
        each
        for step in passes_of(pipeline_between(Level.LOOP, Level.KERNEL))
        for each in expanded([for_target(step, target)])
    ]
    for number, step in enumerate(passes):
        before = module.clone()
        PassManager(context()).run(module, [step])
        is_tile = bool(launches_of(module))
        is_kernel = any(isinstance(op, kernel.FuncOp) for op in module.ops)
        if (is_tile or is_kernel) and str(before) != str(module):
            found.append(PassResult(step.name, before, module.clone(), passes[number + 1 :]))
    return found


def pass_bugs(results: Sequence[PassResult], count: int, seed: int) -> Iterator[PassBug]:
    """
    Yield `count` random bugs in the results of passes, in the order of the passes.

    Results and classes are drawn evenly, one result for each class in turn; each bug occurs once.
    Bugs that the verifier rejects are left out.
    """
    random, found = Random(seed), list[tuple[int, PassBug]]()
    places = [_places(result) for result in results]
    classes = [*Class]
    random.shuffle(classes)
    while any(places) and len(found) < count:
        kind = classes[len(found) % len(classes)]
        holders = [at for at, each in enumerate(places) if each.get(kind)]
        if not holders:
            classes.remove(kind)
            if not classes:
                break
            continue
        at = random.choice(holders)
        ours = places[at][kind]
        place = ours.pop(random.randrange(len(ours)))
        if (bug := _planted(results[at], kind, *place)) is not None:
            found.append((at, bug))
    yield from (bug for _, bug in sorted(found, key=lambda each: each[0]))


def _places(result: PassResult) -> dict[Class, list[tuple[int, int]]]:
    """Return the places of all bugs by class: the number of the op, and that of the bug."""
    found = defaultdict[Class, list[tuple[int, int]]](list)
    for number, op in enumerate(_ops(result.after)):
        for position, (kind, _) in enumerate(_bugs(op)):
            found[kind].append((number, position))
    return found


def _planted(result: PassResult, kind: Class, number: int, position: int) -> PassBug | None:
    module = result.after.clone()
    op = _ops(module)[number]
    (_, mutation), line = [*_bugs(op)][position], line_of(op)
    mutation.change(op)
    try:
        module.verify()
    except VerifyException:
        return None
    return PassBug(result, kind, f"{op.name}: {mutation.what}", line, module)


def _ops(module: ModuleOp) -> Sequence[Operation]:
    """Return the ops of the kernels of a module."""
    kernels = [op for op in module.ops if isinstance(op, KernelOp | kernel.FuncOp)]
    return [op for each in kernels for op in each.body.block.walk()]


_TABLES = ((MAPS, Class.MAP), (BOUNDS, Class.BOUND), (ORDERS, Class.ORDER))


def _bugs(op: Operation) -> Iterator[tuple[Class, Mutation]]:
    for mutation in mutations(op):
        if (kind := _class_of(op, mutation)) is not None:
            yield kind, mutation
    for mutation in exchanged_subscripts(op):
        yield Class.ORDER, mutation
    for table, kind in (*_TABLES, (COMBINES, Class.COMBINE)):
        for rule in table.get(type(op), ()):
            yield from ((kind, mutation) for mutation in rule(op))


_JOINING = (kernel.ShuffleOp, kernel.RemoteOp)
_DROPPED = (StoreOp, kernel.MatrixMultiplyOp, kernel.AtomicOp)
_ROUNDING = (kernel.RoundTf32Op, kernel.HalveTf32Op, arith.ConstantOp)
_ACCESSING = (
    LoadOp,
    StoreOp,
    CopyingOp,
    kernel.TmaCopyOp,
    kernel.LoadMatrixOp,
    kernel.MatrixMultiplyOp,
    kernel.AtomicOp,
)


def _class_of(op: Operation, mutation: Mutation) -> Class | None:
    """Return the class of a mutation of Kernel IR; None if it is one of roundings or numbers."""
    if isinstance(op, _ROUNDING):
        return None
    if mutation.what.startswith("condition") or mutation.what == "always taken":
        return Class.MASK
    if mutation.what.startswith("one step"):
        return Class.BOUND
    is_dropped = mutation.what == "dropped"
    if isinstance(op, _JOINING) or (is_dropped and isinstance(op, _DROPPED)):
        return Class.COMBINE
    return Class.MAP if isinstance(op, _ACCESSING) and not is_dropped else Class.ORDER
