# SPDX-License-Identifier: Apache-2.0
"""Results of recordings: a check that replays write all of their results, and write them right."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tilewright.codegen.timing.device import Recording

ResultCheck = Callable[[Sequence[Any]], str]
"""
Function that checks the result tensors of a call: it returns what is wrong with them, or an empty
text.
"""


def replay_over_nan(recording: Recording, kept: set[int]) -> None:
    """
    Fill all memory that a recording writes with NaN (integers with -1), then queue a replay.

    Memory at the addresses `kept`, which are inputs, is not filled.
    """
    for outputs in recording.outputs:
        _overwrite(outputs, kept)
    recording.replay()


def different(results: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the first result, followed by those of the others that differ from it in any bit."""
    import torch

    first, *rest = results
    return [first, *(r for r in rest if not all(map(torch.equal, first, r)))]


def changed(recordings: Iterable[Recording], complaint: ResultCheck) -> str:
    """
    Return what is wrong with the results of the recordings' last replays; an empty text if nothing
    is.

    `complaint` checks the results of one call of each recording, and all results that differ from
    them.
    """
    for recording in recordings:
        for outputs in [*different(recording.outputs)[1:], recording.outputs[0]]:
            if problem := complaint(outputs):
                return f"wrong after many runs: {problem}"
    return ""


def _overwrite(outputs: Iterable[Any], kept: set[int]) -> None:
    """
    Fill the memory of tensors with NaN (integers with -1), except for inputs at the addresses
    `kept`.
    """
    import torch

    for output in outputs:
        storage = output.untyped_storage()
        if storage.data_ptr() not in kept:
            torch.empty(0, dtype=torch.uint8, device=output.device).set_(storage).fill_(0xFF)
