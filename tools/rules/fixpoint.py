# SPDX-License-Identifier: Apache-2.0
"""
Runs of rules until none applies, in several orders, with a limit.

Each application is recorded. A program that occurs twice is a cycle; a run that exceeds the limit
does not end either.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.transforms.dead_code_elimination import dce

from tilewright.dialects.structure import structure
from tilewright.tools.rules.rule import BrokenRuleError, Rule

_MOST_PER_OP = 4
_FEWEST = 32
"""Limit of the applications in a run: some for each op of the program, and this number."""


_LAST = 8
"""Number of the last applications in a run without end, whose rules are named."""

_NUMBERS = dict[Hashable, int]()
"""Number of each op of Tensor IR with the numbers of its operands; equal ones have the same."""


class Order(StrEnum):
    """Order in which rules and ops are tried."""

    FORWARD = "in their order"
    RULES_REVERSED = "in reverse order"
    OPS_REVERSED = "from the last op to the first"


@dataclass
class Run:
    """Run of rules over a program."""

    applied: list[str] = field(default_factory=list[str])
    """Names of the applied rules."""
    ends: bool = True
    cycle: list[str] = field(default_factory=list[str])
    """Names of the rules after which the program was the same as before them."""
    failure: str = ""
    program: ModuleOp | None = None
    """Final program."""
    result: Hashable = None
    """Key of the final program, which is equal for equal programs."""

    @property
    def recurring(self) -> list[str]:
        """Names of the rules that keep a run from its end."""
        return [*dict.fromkeys(self.cycle or self.applied[-_LAST:])]


def run(rules: Sequence[Rule], program: ModuleOp, order: Order) -> Run:
    """Apply rules to a program, which changes, until none applies or the limit is reached."""
    found = Run()
    dce(program)
    tried = [*reversed(rules)] if order is Order.RULES_REVERSED else rules
    seen: dict[Hashable, int] = {_key(program): 0}
    limit = _FEWEST + _MOST_PER_OP * sum(1 for _ in program.walk())
    while (rule := _apply_one(tried, program, order, found)) is not None:
        found.applied.append(rule.name)
        dce(program)
        key = _key(program)
        if (before := seen.setdefault(key, len(found.applied))) < len(found.applied):
            found.cycle = found.applied[before:]
        if found.cycle or len(found.applied) >= limit:
            found.ends = False
            return found
    found.result, found.program = _key(program), program
    return found


def _apply_one(rules: Sequence[Rule], program: ModuleOp, order: Order, found: Run) -> Rule | None:
    """Apply the first rule that matches, and return it; None if there is none."""
    ops = [*program.walk()]
    for op in reversed(ops) if order is Order.OPS_REVERSED else ops:
        for rule in rules:
            if not rule.may_match(op):
                continue
            try:
                if rule.apply(op):
                    return rule
            except BrokenRuleError as err:
                found.failure = f"{rule.name} {err}"
                return None
    return None


def _key(program: ModuleOp) -> Hashable:
    """
    Return a key of a program. That of Tensor IR does not depend on the order of independent ops.
    """
    functions = [op for op in program.ops if isinstance(op, func.FuncOp)]
    if len(functions) < len([*program.ops]) or not all(map(_is_flat, functions)):
        return structure(program)
    return tuple(key for function in functions for key in _returned(function))


def _is_flat(function: func.FuncOp) -> bool:
    """True if a function has one block of ops without effects."""
    blocks = function.body.blocks
    names = [op.name for block in blocks for op in block.ops][:-1]
    return len(blocks) == 1 and all(name.startswith("prim.") for name in names)


def _returned(function: func.FuncOp) -> Iterator[Hashable]:
    """Yield the key of each returned value: the number of the ops that compute it."""
    keys = dict[SSAValue, Hashable]()
    for argument in function.args:
        keys[argument] = "argument", argument.index, argument.type
    for op in function.body.block.ops:
        properties = tuple(sorted(op.properties.items()))
        tree = op.name, properties, tuple(keys[each] for each in op.operands)
        number = _NUMBERS.setdefault(tree, len(_NUMBERS))
        for result in op.results:
            keys[result] = number, result.index, result.type
        if isinstance(op, func.ReturnOp):
            yield from (keys[value] for value in op.operands)
