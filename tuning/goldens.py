# SPDX-License-Identifier: Apache-2.0
"""
Goldens: schedules that are shipped with Tilewright, one TOML file per GPU in `tuning/goldens/`. The
folder does not exist until a GPU has measured goldens.

    gpu = "NVIDIA H100 80GB HBM3"
    target = "sm_90a"

    [[golden]]
    kernel = "8bbb6c79200d86e1bcd8cee51fd34dd2"
    about = "matmul(512x64xf32, 64x96xf32) -> 512x96xf32"
    origin = "torch.randn(512, 64) @ torch.randn(64, 96)"
    inputs = ["t0", "t1"]
    schedule = "tileify,blockify-launch{m=8 n=32},mark-unroll"
    us = 12.5
    measured_at = "2026-01-01T00:00:00.000000+00:00"
    semantics = 1
    nvrtc = "13.0"

`kernel` is the digest of one of the kernels of `origin`. `inputs` holds the names of its inputs,
which `schedule` uses. To compile it again:

    tilewright compile --no-db -c ORIGIN --ir loop --schedule KERNEL=SCHEDULE
    | opt-tool - -p to-tile

A test tries every golden.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tilewright.errors import UsageError
from tilewright.tuning.key import KernelNote, Record
from tilewright.tuning.operand_names import from_canonical

FOLDER = Path(__file__).parent / "goldens"
"""Folder of the shipped goldens."""

_LONGEST_US = 1e15
"""Time in microseconds that no kernel reaches; a comparison with it also rejects NaN."""

_TEXTS = ("kernel", "about", "origin", "schedule", "measured_at", "nvrtc")


class Golden(NamedTuple):
    """Schedule of one kernel on one GPU."""

    kernel: str
    """Digest of the kernel."""
    about: str
    origin: str
    inputs: tuple[str, ...]
    schedule: str
    """Schedule with the names of `inputs`."""
    us: float
    measured_at: str
    semantics: int
    nvrtc: str


class GoldenFile(NamedTuple):
    """Goldens of one GPU."""

    path: Path
    gpu: str
    target: str
    goldens: tuple[Golden, ...]


def file_name(gpu: str) -> str:
    """Return the file name for a GPU, such as `nvidia-h100-80gb-hbm3.toml`."""
    return re.sub(r"\W+", "-", gpu.lower()).strip("-") + ".toml"


@cache
def shipped_goldens() -> tuple[GoldenFile, ...]:
    """Return the files of the shipped goldens."""
    return golden_files(FOLDER)


def golden_files(folder: Path) -> tuple[GoldenFile, ...]:
    """Return all golden files in a folder, by name. Raises `UsageError` for an invalid file."""
    return tuple(map(_read, sorted(folder.glob("*.toml"))))


def goldens_of(
    notes: Mapping[str, KernelNote], records: Iterable[Record]
) -> dict[tuple[str, str], list[Golden]]:
    """Return goldens by GPU and target, from measurements of kernels whose origin is known."""
    found: dict[tuple[str, str], list[Golden]] = {}
    for key, measurement, measured_at in records:
        note = notes.get(key.kernel)
        if note is None or not note.origin or key.evaluator != "gpu" or measurement.us is None:
            continue
        golden = Golden(
            key.kernel,
            note.about,
            note.origin,
            note.inputs,
            from_canonical(measurement.schedule, note.inputs),
            measurement.us,
            measured_at,
            key.semantics,
            key.nvrtc,
        )
        found.setdefault((key.device, key.target), []).append(golden)
    return found


def golden_text(gpu: str, target: str, goldens: Iterable[Golden]) -> str:
    """Return the text of a file, in the format that `golden_files` reads."""
    head = f"gpu = {_value(gpu)}\ntarget = {_value(target)}\n"
    ordered = sorted(goldens, key=lambda golden: (golden.about, golden.kernel))
    return head + "".join(f"\n[[golden]]\n{_fields(golden._asdict())}" for golden in ordered)


def _fields(fields: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in fields.items())


def _value(value: object) -> str:
    """Return a value in TOML: texts, numbers and lists are as in JSON, except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _read(path: Path) -> GoldenFile:
    # Importing it takes longer than finding that there are no goldens.
    import tomllib

    try:
        content = tomllib.loads(path.read_text())
        return GoldenFile(
            path,
            _checked(content["gpu"], str),
            _checked(content["target"], str),
            tuple(map(_golden, content.get("golden", ()))),
        )
    except OSError as err:
        raise UsageError(f"cannot read '{path}': {err.strerror}") from err
    except KeyError as err:
        raise UsageError(f"'{path}' is not a file of goldens: it lacks {err}") from err
    except (ValueError, TypeError) as err:
        raise UsageError(f"'{path}' is not a file of goldens: {err}") from err


def _golden(entry: Mapping[str, Any]) -> Golden:
    inputs: Sequence[Any] = _checked(entry["inputs"], list)
    return Golden(
        **{name: _checked(entry[name], str) for name in _TEXTS},
        inputs=tuple(_checked(name, str) for name in inputs),
        us=_time(entry["us"]),
        semantics=_checked(entry["semantics"], int),
    )


def _time(value: Any) -> float:
    if not 0 <= _checked(value, float | int) < _LONGEST_US:
        raise ValueError(f"unexpected {value!r}")
    return float(value)


def _checked(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"unexpected {value!r}")
    return value
