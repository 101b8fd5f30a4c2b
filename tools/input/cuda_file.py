# SPDX-License-Identifier: Apache-2.0
"""File of CUDA or PTX text, and the names of its kernels as its author wrote them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tilewright.codegen import nvrtc
from tilewright.codegen.gpu import target_for
from tilewright.codegen.simulator.own_lines import with_own_lines
from tilewright.codegen.simulator.ptx import kernel_names
from tilewright.errors import UsageError, did_you_mean
from tilewright.text_file import read_text_file

_LENGTH = re.compile(r"\d+")


class CudaFile(NamedTuple):
    """
    PTX of a file, and the text whose lines it names. `target` is the GPU architecture; empty for a
    file of PTX.
    """

    path: str
    text: str
    ptx: str
    target: str

    def entry(self, kernel: str | None) -> str:
        """
        Return the name in PTX of a kernel, by default of the only one. Raises `UsageError` if it is
        not one kernel of the file.
        """
        entries = kernel_names(self.ptx)
        names = [source_name(entry) for entry in entries]
        if not entries:
            remedy = "NVRTC leaves out templates that nothing instantiates" if self.target else ""
            raise UsageError("there is no kernel", where=self.path, remedy=remedy)
        if kernel is None and len(entries) == 1:
            return entries[0]
        if kernel is None:
            raise UsageError(
                f"there are {len(entries)} kernels",
                where=self.path,
                remedy=f"choose one by --kernel: {', '.join(_choices(entries))}",
            )
        known = zip(entries, names, strict=True)
        found = [e for e, name in known if kernel in (e, name, name.rpartition("::")[2])]
        if len(found) != 1:
            what = f"{len(found)} kernels have the name" if found else "there is no kernel"
            choices = _choices(found or entries)
            remedy = did_you_mean(kernel, choices) or f"its kernels: {', '.join(choices)}"
            raise UsageError(f"{what} '{kernel}'", where=self.path, remedy=remedy)
        return found[0]


def read_cuda_file(
    path: str, target: str | None, folders: Sequence[str], macros: Sequence[str]
) -> CudaFile:
    """
    Return a file `NAME.cu`, compiled by NVRTC for a target with folders of headers and macros, or a
    file `NAME.ptx`.
    """
    suffix = Path(path).suffix
    if suffix not in (".cu", ".ptx"):
        raise UsageError(f"'{path}' is neither CUDA (.cu) nor PTX (.ptx)")
    if suffix == ".ptx" and (target or folders or macros):
        raise UsageError(f"--target, -I and -D go with a file of CUDA, and '{path}' is PTX")
    try:
        text = read_text_file(path).decode()
    except UnicodeDecodeError as err:
        raise UsageError(f"cannot read '{path}': it is not UTF-8") from err
    if suffix == ".ptx":
        return CudaFile(path, text, with_own_lines(text), "")
    architecture = target_for(target)
    options = [*(f"-I{folder}" for folder in folders), *(f"-D{macro}" for macro in macros)]
    ptx = nvrtc.compile(text, architecture, name=path, options=options).ptx
    return CudaFile(path, text, ptx, architecture)


def source_name(entry: str) -> str:
    """
    Return the name of a kernel in C++ by its name in PTX: `_ZN2my4copyEPKfPf` is `my::copy`. A name
    that is not mangled is returned unchanged.
    """
    parts = list[str]()
    rest = entry.removeprefix("_ZN") if entry.startswith("_ZN") else entry.removeprefix("_Z")
    if rest == entry:
        return entry
    while length := _LENGTH.match(rest):
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:] if entry.startswith("_ZN") else ""
    return "::".join(parts) or entry


def _choices(entries: Sequence[str]) -> list[str]:
    """Return a name for each kernel: the one in C++, or if others share it, the one in PTX."""
    names = [source_name(entry) for entry in entries]
    pairs = zip(entries, names, strict=True)
    return [name if names.count(name) == 1 else entry for entry, name in pairs]
