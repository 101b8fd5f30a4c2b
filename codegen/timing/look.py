# SPDX-License-Identifier: Apache-2.0
"""Measurement of one plan alone: the copies of its inputs, and the time of a call."""

from collections.abc import Sequence

from tilewright.codegen.launch_plan import ArrayType, Plan
from tilewright.codegen.timing.device import Recording
from tilewright.codegen.timing.protocol import Protocol
from tilewright.codegen.timing.rotation import Rotation, rotation
from tilewright.codegen.timing.samples import Timing, timing
from tilewright.codegen.timing.timer import Timer


def turns_of(plan: Plan, l2_bytes: int) -> Rotation:
    """
    Return the rotation for measuring a plan: how many copies of its inputs the calls use in turn.

    A call is taken to read all inputs and to write all results.
    """
    results = [plan.buffers[number] for number in plan.results]
    return rotation(_bytes([*plan.inputs, *results]), _bytes(plan.inputs), l2_bytes)


def look(protocol: Protocol, recordings: Sequence[Recording], timer: Timer, calls: int) -> Timing:
    """
    Measure `recordings`, each of which holds `calls` calls of one plan, and return the time of one
    call.
    """
    replays = [recording.replay for recording in recordings]
    return timing(protocol.measure({"": replays}, timer)[""], calls)


def _bytes(types: Sequence[ArrayType]) -> int:
    return sum(type.bytes for type in types)
