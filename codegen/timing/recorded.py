# SPDX-License-Identifier: Apache-2.0
"""
The results of recordings: what a replay has written into memory that held something else before,
and whether that of the last replay is as good.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tilewright.codegen.timing.device import Recording

Complaint = Callable[[Sequence[Any]], str]
"""What is wrong with the tensors that a call gives; empty if nothing is."""


def write_anew(recording: Recording, kept: set[int]) -> None:
    """
    Queue a replay that finds NaN, or -1, in all memory that it writes; but not in what lies at the
    addresses `kept`, which are inputs.
    """
    for outputs in recording.outputs:
        _overwrite(outputs, kept)
    recording.replay()


def different(results: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the first results, and all that are not equal to them to the bit."""
    import torch

    first, *rest = results
    return [first, *(r for r in rest if not all(map(torch.equal, first, r)))]


def changed(recordings: Iterable[Recording], complaint: Complaint) -> str:
    """What is wrong with the results of the last replay; empty if nothing is."""
    for recording in recordings:
        for outputs in [*different(recording.outputs)[1:], recording.outputs[0]]:
            if problem := complaint(outputs):
                return f"wrong after many runs: {problem}"
    return ""


def _overwrite(outputs: Iterable[Any], kept: set[int]) -> None:
    """Write NaN, or -1, over the memory of tensors, unless it is that of inputs."""
    import torch

    for output in outputs:
        storage = output.untyped_storage()
        if storage.data_ptr() not in kept:
            torch.empty(0, dtype=torch.uint8, device=output.device).set_(storage).fill_(0xFF)
