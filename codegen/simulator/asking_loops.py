# SPDX-License-Identifier: Apache-2.0
"""Static analysis of waiting loops: which ones another thread can end, and which a counter ends."""

from collections.abc import Sequence

from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.operands import Instruction, Symbol
from tilewright.codegen.simulator.register_uses import names, targets

_ADVANCES = ("add", "sub", "mad", "mul", "shl", "shr")
_HARMLESS = (
    *("bra", "ld", "mov", "cvt", "cvta", "setp", "set", "selp", "nanosleep"),
    *("and", "or", "xor", "not", *_ADVANCES),
)
"""Instructions that neither write memory nor wait."""
_MEMORY = ("ld", "ldu", "ldmatrix", "atom")
_OWN_SPACES = {"local", "param", "const"}


def branch_target(kernel: Kernel, instruction: Instruction) -> int | None:
    """Return the place that an instruction branches to; None if it does not branch to a label."""
    match instruction.root, instruction.operands:
        case "bra", (Symbol(name),):
            return kernel.labels.get(name)
        case _:
            return None


def decides_a_loop(kernel: Kernel, place: int) -> bool:
    """True if the result of an instruction decides whether a loop around it continues."""
    answers = set(targets(kernel.instructions[place]))
    for end in range(place, len(kernel.instructions)):
        start = branch_target(kernel, kernel.instructions[end])
        if start is None or start > place:
            continue
        body = kernel.instructions[start : end + 1]
        inside = range(start + 1, end + 1)
        leaving = [each for each in body if branch_target(kernel, each) not in inside]
        if _decides(leaving, _computed_from(body, answers)):
            return True
    return False


def only_loads(kernel: Kernel, start: int, end: int) -> bool:
    """
    True if a loop does nothing but load memory to decide whether it ends, from the same addresses
    in each turn.

    Only another thread can end this loop, although it polls by plain loads.
    """
    body = kernel.instructions[start : end + 1]
    loads = [each for each in body if each.root == "ld" and not _OWN_SPACES & set(each.parts)]
    if not loads or any(each.root not in _HARMLESS for each in body):
        return False
    if any(each.predicate is not None and each.root != "bra" for each in body):
        return False
    if any(branch_target(kernel, each) in range(start + 1, end + 1) for each in body):
        return False
    written = {name for each in body for name in targets(each)}
    made = set[str]()
    for each in body:
        if not (_read(each) & written) <= made:
            return False  # a value of the previous turn
        made.update(targets(each))
    answers = {name for load in loads for name in targets(load)}
    return _decides(body, _computed_from(body, answers))


def counts(body: Sequence[Instruction]) -> bool:
    """True if a branch in the loop depends on a counter: a value that each turn advances."""
    for each in body:
        if each.root not in _ADVANCES:
            continue
        reached = _computed_from(body, set(targets(each)))
        if reached & set(names(each.operands[1:])) and _decides(body, reached):
            return True
    return False


def _computed_from(body: Sequence[Instruction], values: set[str]) -> set[str]:
    """
    Return `values` and the registers computed from them in a loop body. Values that go through
    memory are not followed.
    """
    reached, before = set(values), 0
    while len(reached) > before:
        before = len(reached)
        for each in body:
            if each.root not in _MEMORY and reached.intersection(names(each.operands[1:])):
                reached.update(targets(each))
    return reached


def _decides(body: Sequence[Instruction], values: set[str]) -> bool:
    """True if a branch depends on one of the values."""
    predicates = [each.predicate for each in body if each.root == "bra"]
    return any(p is not None and p.register.name in values for p in predicates)


def _read(instruction: Instruction) -> set[str]:
    """Return the registers that an instruction reads, including its guard."""
    read = set(names(instruction.operands[1:]))
    if instruction.predicate is not None:
        read.add(instruction.predicate.register.name)
    return read
