# SPDX-License-Identifier: Apache-2.0
"""
The index of a checkpoint in several files, `model.safetensors.index.json`:

    {"weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors", ...}}
"""

from pathlib import Path, PurePosixPath, PureWindowsPath

from tilewright.errors import UsageError
from tilewright.models.json_object import as_object, read_object

INDEX = "model.safetensors.index.json"
"""What the index is called in a model's folder."""


def read_index(path: Path) -> dict[str, str]:
    """
    For each tensor the file that it is in, beside the index.

    Raises `UsageError` for what is no index, and for files that are not there or not in its folder.
    """
    files = _weight_map(path)
    outside = sorted({file for file in files.values() if _leaves(file)})
    if outside:
        raise UsageError(f"'{path}' names files outside of its folder: {', '.join(outside)}")
    absent = sorted({file for file in files.values() if not _is_there(path.parent / file)})
    if absent:
        raise UsageError(f"'{path}' names files that are not there: {', '.join(absent)}")
    return files


def _weight_map(path: Path) -> dict[str, str]:
    found = as_object(read_object(path).get("weight_map"))
    if not found or not all(isinstance(file, str) for file in found.values()):
        raise UsageError(f"'{path}' has no weight_map that says which tensor is in which file")
    return found


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _leaves(file: str) -> bool:
    """Whether a path is absolute or climbs, on any system."""
    kinds = (PurePosixPath(file), PureWindowsPath(file))
    return any(path.is_absolute() or path.drive or ".." in path.parts for path in kinds)
