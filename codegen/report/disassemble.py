# SPDX-License-Identifier: Apache-2.0
"""
Interface to nvdisasm, NVIDIA's disassembler: a cubin in, its machine code as text out.

nvdisasm needs neither a driver nor a GPU. The wheel `nvidia-cuda-nvdisasm` contains it (`pip
install 'tilewright[cuda]'`), and CUDA toolkits do too. Reference: CUDA Binary Utilities,
"nvdisasm".
"""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile

from tilewright.codegen import nvrtc_library
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


def _output(program: Path, path: str) -> str:
    try:
        result = subprocess.run([program, *_OPTIONS, path], capture_output=True, text=True)
    except OSError as err:
        raise NvdisasmUnavailable(f"and {program} does not start: {err.strerror}") from None
    if result.returncode:
        reason = result.stderr.replace(path, "the cubin").strip() or f"code {result.returncode}"
        raise TilewrightError(f"nvdisasm failed: {reason}")
    return result.stdout
