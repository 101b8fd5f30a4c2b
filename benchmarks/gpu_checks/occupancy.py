# SPDX-License-Identifier: Apache-2.0
"""
Stage `occupancy`: the number of blocks per multiprocessor, by the report and by the driver.

If the driver's number is lower, it splits shared memory and L1 in another way than assumed, or it
uses more registers than NVRTC reported.
"""

from collections.abc import Sequence

from gpu_checks.device import Device
from gpu_checks.launched import SAMPLE, prepared
from gpu_checks.outcome import Outcome, missing, right, wrong
from gpu_checks.suite import RACE, case_named
from tilewright.codegen.launch_plan import Plan

Blocks = tuple[str, int, int | None]
"""
Kernel name, blocks by the report, and blocks by the driver or None if it does not report them.
"""


def items(device: Device) -> list[str]:
    """
    Return the names of small programs and of the race's programs, whose kernels are large; none
    without a GPU.
    """
    if not device.is_gpu:
        return []
    return [*SAMPLE, *(f"suite84/{name}" for name in RACE)]


def check(device: Device, item: str) -> Outcome:
    """
    Load a program's kernels; return the outcome of comparing the number of blocks of each by report
    and by driver.
    """
    from tilewright.codegen.report import static_report
    from tilewright.dialects.target import target

    plan = _plan(device, item)
    report = static_report(plan, target(device.target))
    functions = device.backend().load(plan).functions
    return judged(
        [
            (each.name, each.occupancy.blocks, functions[each.name].blocks_per_sm(each.launch))
            for each in report.kernels
        ]
    )


def _plan(device: Device, item: str) -> Plan:
    from tilewright import api
    from tilewright.codegen.host_function import plan_of

    if "/" not in item:
        return prepared(item, device.target).plan
    case = case_named(item)
    captured = api.capture(case.function, *case.inputs("meta"))
    return plan_of(api.lower(captured, "cuda", device.target))


def judged(kernels: Sequence[Blocks]) -> Outcome:
    """
    Return the outcome of the comparison, which is right if both numbers are equal for each kernel.
    """
    reported = [(name, ours, theirs) for name, ours, theirs in kernels if theirs is not None]
    if len(reported) < len(kernels) or not kernels:
        return missing("the driver does not report occupancy")
    figures = {name: {"report": ours, "driver": theirs} for name, ours, theirs in reported}
    if differing := [each for each in reported if each[1] != each[2]]:
        says = (
            f"{name}: {theirs} blocks on a multiprocessor, not {ours}"
            for name, ours, theirs in differing
        )
        return wrong("; ".join(says), kernels=figures)
    return right(", ".join(f"{name} {ours}" for name, ours, _ in reported), kernels=figures)
