# SPDX-License-Identifier: Apache-2.0
"""A look at one plan alone: how many copies of its inputs it takes, and what its samples say."""

from collections.abc import Sequence

from tilewright.codegen.launch_plan import ArrayType, Plan
from tilewright.codegen.timing.device import Recording
from tilewright.codegen.timing.protocol import Protocol
from tilewright.codegen.timing.rotation import Rotation, rotation
from tilewright.codegen.timing.samples import Timing, timing
from tilewright.codegen.timing.timer import Timer


def turns_of(plan: Plan, l2_bytes: int) -> Rotation:
    """How many copies of the inputs a recording goes through: all of them are read."""
    results = [plan.buffers[number] for number in plan.results]
    return rotation(_bytes([*plan.inputs, *results]), _bytes(plan.inputs), l2_bytes)


def look(protocol: Protocol, recordings: Sequence[Recording], timer: Timer, calls: int) -> Timing:
    """Return the time of a call, of recordings that are of so many each."""
    replays = [recording.replay for recording in recordings]
    return timing(protocol.measure({"": replays}, timer)[""], calls)


def _bytes(types: Sequence[ArrayType]) -> int:
    return sum(type.bytes for type in types)
