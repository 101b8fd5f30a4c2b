# SPDX-License-Identifier: Apache-2.0
"""
Interface to nvdisasm, NVIDIA's disassembler: a cubin in, its machine code as text out.

nvdisasm needs neither a driver nor a GPU. The wheel `nvidia-cuda-nvdisasm` contains it (`pip
install 'tilewright[cuda]'`), and CUDA toolkits do too. Reference: CUDA Binary Utilities,
"nvdisasm".
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile

from tilewright.codegen import nvrtc_library
from tilewright.codegen.report.joined_cubins import joined, parsed
from tilewright.codegen.side_by_side import side_by_side
from tilewright.errors import TilewrightError

_OPTIONS = (
    "--print-code",
    "--print-line-info-inline",
    "--print-instruction-encoding",
    "--no-dataflow",
)
"""
Options of nvdisasm. The dataflow analysis takes a third of the time, and only adds comments on
spills.
"""

_LEAST_JOINED = 16
"""Cubins for each process of nvdisasm; more processes take more time in all."""

_SECTION = re.compile(r"^//-+ (\.text\.\S+)", re.MULTILINE)
_LABEL = re.compile(r"(?<=\.L_x_)\d+")


class NvdisasmUnavailable(TilewrightError):
    """The error that nvdisasm is missing or does not start."""

    def __init__(self, reason: str):
        super().__init__(
            f"machine code needs nvdisasm, {reason}", remedy="pip install 'tilewright[cuda]'"
        )


def find_nvdisasm() -> Path | None:
    """
    Return the path of nvdisasm, or None.

    It is searched for in the `nvidia` wheels, in the toolkits that NVRTC knows, and on the path.
    """
    spec = find_spec("nvidia")
    wheels = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    in_wheels = [path for wheel in wheels for path in sorted(wheel.glob("*/bin/nvdisasm"))]
    in_toolkits = [home / "bin" / "nvdisasm" for home in nvrtc_library.toolkits()]
    found = next((path for path in in_wheels + in_toolkits if path.is_file()), None)
    on_path = shutil.which("nvdisasm")
    return found or (Path(on_path) if on_path else None)


def disassemble(cubin: bytes) -> str:
    """
    Return the disassembly of `cubin`, with line numbers of the CUDA text.

    Raises `NvdisasmUnavailable`, and `TilewrightError` if nvdisasm fails.
    """
    program = find_nvdisasm()
    if program is None:
        raise NvdisasmUnavailable("and it is not found")
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return _output(program, file.name)


def disassemble_each(cubins: Sequence[bytes]) -> list[str]:
    """
    Return the disassembly of the code of each cubin; all are for one target. Few processes of
    nvdisasm disassemble several cubins each. Raises as `disassemble`.
    """
    names, together, groups = set[str](), list[bytes](), list[tuple[bytes, ...]]()
    for cubin in dict.fromkeys(cubins):
        content = parsed(cubin)
        if content.is_joinable and names.isdisjoint(content.names):
            names.update(content.names)
            together.append(cubin)
        else:
            groups.append((cubin,))
    number = max(1, min(len(os.sched_getaffinity(0)), len(together) // _LEAST_JOINED))
    groups += [tuple(together[n::number]) for n in range(number) if together]
    texts = dict(pair for pairs in side_by_side(_texts, groups) for pair in pairs)
    return [texts[cubin] for cubin in cubins]


def _texts(cubins: tuple[bytes, ...]) -> list[tuple[bytes, str]]:
    """Return the disassembly of each cubin with it, made by one process."""
    if len(cubins) == 1:
        return [(cubins[0], disassemble(cubins[0]))]
    contents = [parsed(cubin) for cubin in cubins]
    _, *printed = _SECTION.split(disassemble(joined(contents)))
    sections = dict(zip(printed[::2], printed[1::2], strict=True))
    return [
        (cubin, _with_own_labels("".join(sections[name] for name in content.names)))
        for cubin, content in zip(cubins, contents, strict=True)
    ]


def _with_own_labels(text: str) -> str:
    """Return a part of a disassembly with labels numbered from 0."""
    first = min((int(label) for label in _LABEL.findall(text)), default=0)
    return _LABEL.sub(lambda label: str(int(label[0]) - first), text) if first else text


def _output(program: Path, path: str) -> str:
    try:
        result = subprocess.run([program, *_OPTIONS, path], capture_output=True, text=True)
    except OSError as err:
        raise NvdisasmUnavailable(f"and {program} does not start: {err.strerror}") from None
    if result.returncode:
        reason = result.stderr.replace(path, "the cubin").strip() or f"code {result.returncode}"
        raise TilewrightError(f"nvdisasm failed: {reason}")
    return result.stdout
