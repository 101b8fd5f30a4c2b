# SPDX-License-Identifier: Apache-2.0
"""
Stage `sanitizer`: NVIDIA's compute-sanitizer on a few programs, and on planted bugs.

PyTorch's allocator hands out parts of larger allocations, which would hide accesses beyond a
tensor. Therefore it is configured to allocate each tensor separately. Reference: Compute Sanitizer,
"Command Line Options".
"""

import re
from collections.abc import Sequence

from gpu_checks.device import Device
from gpu_checks.launched import LAUNCHED, PLANTED, SAMPLE, launcher
from gpu_checks.outcome import Outcome, missing, right, wrong
from gpu_checks.tool import last_line, output_of
from tilewright.tools.toolkit import find_tool

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_FINDERS = {"planted.bounds": "memcheck", "planted.race": "racecheck"}
_UNCACHED = ("env", "PYTORCH_NO_CUDA_MEMORY_CACHING=1")
_SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+)", re.MULTILINE)
_FINDING = re.compile(r"^========= (?! |$)(?!COMPUTE-SANITIZER|.*SUMMARY)(.+)$", re.MULTILINE)
_REFUSALS = ("Device not supported", "Unable to find injection", "No attachable process")


def items(device: Device) -> list[str]:
    """
    Return the names of the checks: `TOOL/BUG` for planted bugs and `TOOL/GROUP` for groups of
    programs; none without a GPU.
    """
    if not device.is_gpu:
        return []
    planted = [f"{tool}/{name}" for name, tool in _FINDERS.items()]
    return [*planted, *(f"{tool}/{name}" for name in _GROUPS for tool in TOOLS)]


_GROUPS: dict[str, tuple[str, ...]] = {
    "rows": tuple(name for name in SAMPLE if not name.startswith(("matmul", "sdpa"))),
    "contractions": tuple(name for name in SAMPLE if name.startswith(("matmul", "sdpa"))),
}
"""
Names of programs that share a process, by name of the group; starting a process takes longer than
the programs.
"""


def check(device: Device, item: str) -> Outcome:
    """Run a tool of compute-sanitizer on some programs, and return the outcome."""
    tool, _, group = item.partition("/")
    path = find_tool("compute-sanitizer")
    if path is None:
        return missing("compute-sanitizer is not found")
    names = [group] if group in PLANTED else [*_GROUPS[group]]
    options = ["--tool", tool, "--report-api-errors", "no", "--target-processes", "all"]
    code, text = output_of([*_UNCACHED, path, *options, *launcher(device, names)])
    if group in PLANTED:
        return judged_planted(text)
    return judged(text, code, names)


def judged(text: str, code: int, names: Sequence[str]) -> Outcome:
    """Return the outcome: right if the tool reports nothing and all programs have run."""
    if (reason := refusal(text)) is not None:
        return missing(reason)
    found, findings = summary(text)
    if found is None:
        return missing(f"compute-sanitizer has no summary: {last_line(text)}", output=text[-4000:])
    if found:
        says = f"{found} reported; first: {findings[0] if findings else 'no details'}"
        return wrong(says, findings=findings[:20])
    if left := [name for name in names if f"{LAUNCHED}{name}" not in text]:
        says = f"nothing reported, but {left[0]} did not run (exit code {code})"
        return wrong(says, output=text[-4000:])
    return right(f"nothing reported in {', '.join(names)}")


def judged_planted(text: str) -> Outcome:
    """Return the outcome for a planted bug: right if the tool reports something."""
    if (reason := refusal(text)) is not None:
        return missing(reason)
    found, findings = summary(text)
    if not found:
        return wrong("the planted bug is not reported", output=text[-4000:])
    return right(f"finds the planted bug: {findings[0] if findings else found}")


def refusal(text: str) -> str | None:
    """Return the reason why the tool cannot work on this machine; None if it can."""
    refused = next((words for words in _REFUSALS if words in text), None)
    return None if refused is None else f"compute-sanitizer cannot work here: {refused}"


def summary(text: str) -> tuple[int | None, list[str]]:
    """Return the total number of errors or hazards, and the first line of each reported one."""
    counts = [int(count) for count in _SUMMARY.findall(text)]
    return (sum(counts) if counts else None), _FINDING.findall(text)
