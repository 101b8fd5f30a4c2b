# SPDX-License-Identifier: Apache-2.0
"""`tilewright db export --goldens FOLDER`: the best schedules of each GPU, as they are shipped."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tilewright.errors import TilewrightError, UsageError, counted
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.written import note_written
from tilewright.tuning.goldens import (
    Golden,
    file_name,
    golden_files,
    golden_text,
    goldens_of,
)
from tilewright.tuning.key import KernelNote, Record


def write_goldens(folder: Path, notes: Mapping[str, KernelNote], records: Sequence[Record]) -> None:
    """Write the files of `folder` anew, with the best of all keys; what else is there stays."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    found = goldens_of(notes, records)
    if not found:
        raise TilewrightError(
            "there is nothing to be a golden: what a GPU has measured, of an expression",
            remedy="tilewright db ls lists what there is",
        )
    before = {file.path.name: file.goldens for file in golden_files(folder)}
    for (gpu, target), goldens in found.items():
        name = file_name(gpu)
        kept = _newest([*before.get(name, ()), *goldens])
        write_text(str(folder / name), golden_text(gpu, target, kept))
        note_written(str(folder / name), counted(len(kept), "golden"))


def _newest(goldens: Sequence[Golden]) -> list[Golden]:
    """Of each kernel what comes last: goldens of newer schedules, and of the newest NVRTC."""
    ordered = sorted(goldens, key=lambda golden: (golden.semantics, _version(golden.nvrtc)))
    return [*{golden.kernel: golden for golden in ordered}.values()]


def _version(nvrtc: str) -> list[int]:
    return [int(part) for part in nvrtc.split(".") if part.isdecimal()]
