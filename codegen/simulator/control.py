# SPDX-License-Identifier: Apache-2.0
"""
Compilation of a kernel for the machine: branches, exits, barriers, and predicates as guards.

PTX ISA, "Control Flow Instructions" and "bar, barrier".
"""

import numpy as np

from tilewright.codegen.simulator.barriers import Barrier
from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.instructions import build
from tilewright.codegen.simulator.instructions.matrix import MATRIX
from tilewright.codegen.simulator.instructions.mbarrier import phase_wait
from tilewright.codegen.simulator.instructions.warp import WARP_TOGETHER, synchronise
from tilewright.codegen.simulator.instructions.warpgroup import warpgroup
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.machine import Control, Machine
from tilewright.codegen.simulator.meeting import Collective
from tilewright.codegen.simulator.operands import Instruction, Predicate, Symbol
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.unit import Step, Unit, modifiers, unknown
from tilewright.codegen.simulator.warpgroups import ROOT

_REDUCTIONS = ("popc", "and", "or")
_COLLECTIVES = {**WARP_TOGETHER, **MATRIX, ROOT: warpgroup}


def compile_kernel(unit: Unit) -> Machine:
    """
    Return a machine with every instruction compiled to a step or a control.

    Raises `SimulatorError` for an unknown instruction.
    """
    machine = Machine(unit)
    for place, instruction in enumerate(unit.kernel.instructions):
        try:
            _add(machine, place, instruction)
        except SimulatorError as err:
            raise err.at_line(instruction.line) from None
        except (ValueError, KeyError, IndexError, AssertionError):
            # The operands fit no known form of the instruction.
            raise unknown(instruction) from None
    return machine


def _add(machine: Machine, place: int, instruction: Instruction) -> None:
    control = _control(machine, place, instruction)
    if control is None:
        step = _checked(machine.unit, instruction, build(machine.unit, instruction))
        guarded = _guarded(machine.unit, instruction.predicate, step)
        machine.steps.append(_after(machine.unit.undefined.guard(instruction), guarded))
        return
    control = _checked(machine.unit, instruction, control)
    guarded = _guarded_control(machine, place, instruction, control)
    machine.controls[place] = _after(machine.unit.undefined.guard(instruction), guarded)
    machine.steps.append(_never)


def _checked(unit: Unit, instruction: Instruction, step: Step) -> Step:
    """Return a step that checks the operands of an instruction before it runs."""
    step = _after(unit.undefined.flow(instruction), step)
    return _after(unit.warpgroups.guard(instruction), step)


def _after(check: Step | None, step: Step) -> Step:
    """
    Return a step that calls `check` and then runs `step`. Without a check, return `step` itself.
    """
    if check is None:
        return step

    def run(lanes: Lanes) -> None:
        check(lanes)
        step(lanes)

    return run


def _never(lanes: Lanes) -> None:
    raise AssertionError("a control instruction is no step")


def _holds(unit: Unit, predicate: Predicate, lanes: Lanes) -> Values:
    value = unit.registers.source(predicate.register, "pred")[lanes.index]
    return ~value if predicate.negated else value


def _guarded(unit: Unit, predicate: Predicate | None, step: Step) -> Step:
    """Return a step that runs only for the lanes whose predicate holds."""
    if predicate is None:
        return step

    def run(lanes: Lanes) -> None:
        chosen = lanes.where(_holds(unit, predicate, lanes))
        if chosen is not None:
            step(chosen)

    return run


def _guarded_control(
    machine: Machine, place: int, instruction: Instruction, control: Control
) -> Control:
    predicate = instruction.predicate
    if predicate is None:
        return control

    def run(lanes: Lanes) -> None:
        holds = _holds(machine.unit, predicate, lanes)
        machine.go(place + 1, lanes.where(~holds))
        chosen = lanes.where(holds)
        if chosen is not None:
            control(chosen)

    return run


def _control(machine: Machine, place: int, instruction: Instruction) -> Control | None:
    """Return the control of an instruction; None if it acts on each lane by itself."""
    unit, root = machine.unit, instruction.root
    match root:
        case "bra":
            target = _label(unit.kernel, instruction)
            if place in machine.endless:
                return lambda lanes: machine.hang(lanes, instruction)
            if place in machine.spinning:
                return lambda lanes: machine.spin(place, target, instruction, lanes)
            return lambda lanes: machine.go(target, lanes)
        case "brx":
            return _indexed_branch(machine, instruction)
        case "ret" | "exit":
            return machine.exit
        case "trap":
            return lambda lanes: machine.trap(lanes, instruction)
        case "activemask":
            return _active_mask(machine, place, instruction)
        case "mbarrier" if "try_wait" in instruction.parts:
            wait = phase_wait(unit, instruction)
            if wait.once:
                return None
            return lambda lanes: machine.await_phase(place, wait, lanes)
        case "barrier" if "cluster" in instruction.parts:
            return _cluster_barrier(machine, place, instruction)
        case "bar" | "barrier" if "warp" not in instruction.parts:
            barrier = _barrier(unit, instruction)
            return lambda lanes: machine.wait(place, barrier, lanes)
        case "bar":
            return _together(machine, place, synchronise(unit, instruction))
        case _ if root in _COLLECTIVES:
            return _together(machine, place, _COLLECTIVES[root](unit, instruction))
        case _:
            return None


def _together(machine: Machine, place: int, collective: Collective) -> Control:
    return lambda lanes: machine.gather(place, collective, lanes)


def _label(kernel: Kernel, instruction: Instruction) -> int:
    (label,) = instruction.operands
    if not isinstance(label, Symbol) or label.name not in kernel.labels:
        raise unknown(instruction)
    return kernel.labels[label.name]


def _indexed_branch(machine: Machine, instruction: Instruction) -> Control:
    index, table = instruction.operands
    kernel = machine.unit.kernel
    if not isinstance(table, Symbol) or table.name not in kernel.branch_tables:
        raise unknown(instruction)
    targets = [kernel.labels[name] for name in kernel.branch_tables[table.name]]
    which = machine.unit.registers.source(index, "u32")

    def run(lanes: Lanes) -> None:
        chosen = which[lanes.index]
        for number, target in enumerate(targets):
            machine.go(target, lanes.where(chosen == number))

    return run


def _active_mask(machine: Machine, place: int, instruction: Instruction) -> Control:
    """Compile `activemask`: each lane gets the lanes of its warp that execute with it."""
    (target,) = instruction.operands
    register = machine.unit.registers.target(target, "b32")

    def run(lanes: Lanes) -> None:
        numbers = lanes.numbers()
        active = np.zeros(machine.unit.geometry.lanes, np.bool_)
        active[numbers] = True
        words = np.packbits(active, bitorder="little").view(np.uint32)
        register[lanes.index] = words[numbers // 32]
        machine.go(place + 1, lanes)

    return run


def _cluster_barrier(machine: Machine, place: int, instruction: Instruction) -> Control:
    """Compile `barrier.cluster`: lanes continue at once after `arrive`, but wait at `wait`."""
    parts = modifiers(
        instruction, ("cluster", "arrive", "wait", "acquire", "release", "relaxed", "aligned"), 0
    )
    if "wait" in parts:
        return lambda lanes: machine.clusters.wait(place + 1, instruction, lanes)

    def arrive(lanes: Lanes) -> None:
        machine.clusters.arrive(instruction, lanes)
        machine.go(place + 1, lanes)

    return arrive


def _barrier(unit: Unit, instruction: Instruction) -> Barrier:
    """Compile `bar.sync|arrive id{, threads}` and `bar.red.op.type d, id{, threads}, p`."""
    reduces = "red" in instruction.parts
    allowed = ("cta", "sync", "arrive", "red", "aligned", *_REDUCTIONS)
    parts = modifiers(instruction, allowed, types=1 if reduces else 0)
    registers = unit.registers
    operands = list(instruction.operands)
    result = operands.pop(0) if reduces else None
    value = operands.pop() if reduces else None
    number = registers.source(operands[0], "u32")
    threads = registers.source(operands[1], "u32") if len(operands) > 1 else None
    if result is None or value is None:
        waits = "arrive" not in parts
        return Barrier(instruction, number, threads, lambda lanes, blocks: None, waits)
    target = registers.target(result, instruction.type)
    predicate = registers.source(value, "pred")
    (operation,) = parts & set(_REDUCTIONS)

    def reduce(lanes: Lanes, blocks: Integers) -> None:
        total = np.bincount(blocks, weights=predicate[lanes.index])[blocks]
        everyone = np.bincount(blocks)[blocks]
        outcome = {"popc": total, "or": total > 0, "and": total == everyone}
        target[lanes.index] = outcome[operation]

    return Barrier(instruction, number, threads, reduce)
