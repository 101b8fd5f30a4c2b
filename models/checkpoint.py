# SPDX-License-Identifier: Apache-2.0
"""
Checkpoint in a model's folder: safetensors, memory-mapped.

    model.safetensors                    all tensors, or
    model.safetensors.index.json         the index: which tensor is in which of these files,
    model-00001-of-00002.safetensors     as {"weight_map": {"lm_head.weight": FILE, ...}}

Opening a checkpoint reads the names, shapes and dtypes of its tensors. Values are read from the
disk when they are used. Pickles are never read, because they can run code.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from tilewright.errors import UsageError
from tilewright.models.json_object import as_object, read_object
from tilewright.models.many_names import listed

_SINGLE = "model.safetensors"

INDEX = "model.safetensors.index.json"
"""Name of the index in a model's folder."""

_DTYPES: Mapping[str, str] = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
"""PyTorch's names of dtypes, by safetensors' names."""


class TensorKind(NamedTuple):
    """Shape and dtype of a tensor."""

    shape: tuple[int, ...]
    dtype: str
    """
    PyTorch's name for the dtype, such as `bfloat16`; safetensors' name for a dtype that no model
    uses.
    """


@dataclass(frozen=True)
class Checkpoint:
    """Open safetensors of a folder."""

    folder: Path
    tensors: Mapping[str, TensorKind]
    """Shape and dtype of each tensor, by name."""
    _files: Mapping[str, Any]
    """Open file that holds each tensor, by the tensor's name."""

    @staticmethod
    def open(folder: Path) -> "Checkpoint":
        """
        Open all files of the checkpoint in a folder, and return the checkpoint.

        Raises `UsageError` if there is no checkpoint, or if it is damaged: a file is missing or
        cannot be read, two tensors have one name, or the index is wrong.
        """
        index = None if (folder / _SINGLE).exists() else _index_of(folder)
        names = [_SINGLE] if index is None else sorted(set(index.values()))
        files = {name: _opened(folder / name) for name in names}
        places: dict[str, list[str]] = {}
        for name, file in files.items():
            for key in file.keys():
                places.setdefault(key, []).append(name)
        if problems := [*_problems(places, index or {})]:
            raise UsageError(f"the checkpoint in '{folder}' is damaged:{listed(problems)}")
        holders = {key: files[name] for key, [name] in places.items()}
        kinds = {key: _kind(file.get_slice(key)) for key, file in holders.items()}
        return Checkpoint(folder, kinds, holders)

    def tensor(self, name: str) -> Any:
        """
        Return the tensor called `name`. Its memory is the file's, but writes to the tensor do not
        change the file.
        """
        return self._files[name].get_tensor(name)


def _index_of(folder: Path) -> dict[str, str]:
    if (folder / INDEX).exists():
        return _read_index(folder / INDEX)
    pickles = sorted(folder.glob("pytorch_model*.bin"))
    if not pickles:
        raise UsageError(f"'{folder}' has no weights: neither {_SINGLE} nor {INDEX}")
    raise UsageError(
        f"the weights in '{folder}' are a pickle, {pickles[0].name}, which is not read,"
        " because it can run code",
        remedy="convert them to safetensors:"
        " AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER)",
    )


def _read_index(path: Path) -> dict[str, str]:
    """
    Return the file of each tensor, as an index names it.

    Raises `UsageError` if the file at `path` is no index, or if it names files that do not exist or
    are outside of its folder.
    """
    files = _weight_map(path)
    outside = sorted({file for file in files.values() if _leaves(file)})
    if outside:
        raise UsageError(f"'{path}' names files outside of its folder: {', '.join(outside)}")
    absent = sorted({file for file in files.values() if not _is_there(path.parent / file)})
    if absent:
        raise UsageError(f"'{path}' names files that do not exist: {', '.join(absent)}")
    return files


def _weight_map(path: Path) -> dict[str, str]:
    found = as_object(read_object(path).get("weight_map"))
    if not found or not all(isinstance(file, str) for file in found.values()):
        raise UsageError(f"'{path}' has no weight_map from tensors to files")
    return found


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _leaves(file: str) -> bool:
    """True if a path is absolute or contains `..`, on any system."""
    kinds = (PurePosixPath(file), PureWindowsPath(file))
    return any(path.is_absolute() or path.drive or ".." in path.parts for path in kinds)


def _opened(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, "pt")
    except (OSError, SafetensorError) as error:
        raise UsageError(f"cannot read '{path}': {error}") from error


def _problems(places: Mapping[str, list[str]], index: Mapping[str, str]) -> Iterator[str]:
    """
    Yield messages for tensors that are in several files, or not in the file that the index names.
    """
    for key, files in places.items():
        if len(files) > 1:
            yield f"{key} is in {' and in '.join(files)}"
    for key, file in index.items():
        if file not in places.get(key, []):
            yield f"{key} is not in {file}, which the index names"


def _kind(stored: Any) -> TensorKind:
    dtype = stored.get_dtype()
    return TensorKind(tuple(stored.get_shape()), _DTYPES.get(dtype, dtype))
