# SPDX-License-Identifier: Apache-2.0
"""
Folder of a compiled model:

    manifest.json               kernels, launches, buffers, and how to load the weights
    kernels/NAME.cu             a file for each kernel, which compiles by itself
    kernels.cu                  all kernels in one text, to whose lines the report refers
    plan.mlir                   the whole program as CUDA IR, which parses back
    constants.safetensors       values that are in no checkpoint, if there are some
    report.txt                  facts from the machine code of each kernel

The folder is written completely or not at all.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from shutil import copymode, rmtree
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.whole_file import cannot_write, exchange
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.models.buffers import rebuilt_buffers
from tilewright.models.json_object import read_object
from tilewright.models.manifest import as_json, manifest
from tilewright.models.weights import tied_names

MANIFEST = "manifest.json"
_CONSTANTS = "constants.safetensors"
_WRITTEN = re.compile(
    r"manifest\.json|plan\.mlir|kernels\.cu|constants\.safetensors|report\.txt|kernels(/\w+\.cu)?"
)
"""Pattern of the paths of all files that the folder of a compiled model may hold."""

_MAKER = "tilewright"
"""
Key of the manifest with the version of Tilewright that made the folder; it marks the folder of a
compiled model.
"""

Files = Mapping[str, str | bytes]
"""Contents of files, by path in the folder."""


def folder_files(
    cuda_ir: ModuleOp, plan: Plan, captured: Captured, model: Any, facts: Mapping[str, Any]
) -> dict[str, str | bytes]:
    """
    Return all files of the folder except the report, from a module of CUDA IR and its plan.

    `captured` is the program of `model` that was compiled. The manifest begins with `facts`.
    """
    kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(cuda_ir)}
    paths = {name: f"kernels/{name}.cu" for name in kernels}
    values = _values(captured, model)
    inside = dict.fromkeys(values, _CONSTANTS)
    entries = manifest(plan, captured.inputs, facts, paths, inside, _other_names(model))
    texts = {paths[n]: cuda_source(ModuleOp([op.clone()])) for n, op in kernels.items()}
    return {
        MANIFEST: as_json(entries),
        "plan.mlir": str(cuda_ir) + "\n",
        "kernels.cu": plan.source,
        **texts,
        **({_CONSTANTS: _saved(values)} if values else {}),
    }


def _values(captured: Captured, model: Any) -> dict[str, Any]:
    """Return the tensors that neither a caller nor a checkpoint provides."""
    rebuilt = rebuilt_buffers(model)
    constants = {i.name: i.tensor for i in captured.inputs if i.kind == "constant"}
    return constants | {i.name: rebuilt[i.name] for i in captured.inputs if i.name in rebuilt}


def _other_names(model: Any) -> dict[str, list[str]]:
    """
    Return the other names of each tensor that has several names, as tied weights do, by each of its
    names.
    """
    tied = (names for names in tied_names(model.state_dict(keep_vars=True)) if names[1:])
    return {name: [other for other in names if other != name] for names in tied for name in names}


def _saved(values: Mapping[str, Any]) -> bytes:
    from safetensors.torch import save

    return save({name: value.contiguous() for name, value in values.items()})


def check_output_folder(folder: Path) -> None:
    """
    Raise `UsageError` unless the folder can be made: it must be absent, empty, or the folder of a
    compiled model without other files.
    """
    parents = Path(os.path.abspath(folder)).parents
    _check_writable(next(above for above in parents if above.exists()), folder)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is a file: the output is a folder, or a file NAME.cu")
    remedy = "name another folder, or remove this one"
    if not _is_ours(folder):
        raise UsageError(f"the folder '{folder}' holds no compiled model", remedy=remedy)
    if added := _added(folder):
        raise UsageError(
            f"the folder '{folder}' holds files that Tilewright did not write: {', '.join(added)}",
            remedy=remedy,
        )


def _check_writable(above: Path, folder: Path) -> None:
    """Raise `UsageError` unless a folder can be made in `above`, which exists."""
    if not above.is_dir():
        raise UsageError(f"cannot write '{folder}': '{above}' is a file")
    if not os.access(above, os.W_OK):
        raise UsageError(f"cannot write '{folder}': the folder '{above}' is read-only")


def _is_ours(folder: Path) -> bool:
    try:
        return _MAKER in read_object(folder / MANIFEST)
    except UsageError:
        return False


def _added(folder: Path) -> list[str]:
    """
    Return the paths in the folder of a compiled model that this package did not write; overwriting
    would lose them.
    """
    there = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(path for path in there if not _WRITTEN.fullmatch(path))


def write_folder(folder: Path, files: Files) -> None:
    """
    Write the folder, in place of an older one of a compiled model. If something fails, the older
    folder is still there. Raises `TilewrightError`.
    """
    check_output_folder(folder)
    folder = Path(os.path.realpath(folder))
    new, old = (folder.with_name(f".{folder.name}.{kind}-{os.getpid()}") for kind in ("new", "old"))
    try:
        for path, content in files.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            (new / path).write_bytes(data)
        _put_in_place(new, folder, old)
    except OSError as err:
        raise cannot_write(folder, err) from err
    finally:
        rmtree(new, ignore_errors=True)
        if old.exists() and not folder.exists():
            old.rename(folder)
        rmtree(old, ignore_errors=True)


def _put_in_place(new: Path, folder: Path, old: Path) -> None:
    """
    Give `new` the name of `folder`, in one step where the system can: a kill between two steps
    would lose the folder.
    """
    if not folder.exists():
        new.rename(folder)
        return
    copymode(folder, new)
    if not exchange(new, folder):
        folder.rename(old)
        new.rename(folder)
