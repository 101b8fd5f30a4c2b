# SPDX-License-Identifier: Apache-2.0
"""
Interface to NVRTC, NVIDIA's run-time compiler, through ctypes: CUDA text in, PTX or a cubin out.

NVRTC is one shared library that needs neither a driver nor a GPU. The wheel `nvidia-cuda-nvrtc`
contains it (`pip install 'tilewright[cuda]'`), and CUDA toolkits do too (`use_toolkit`). Reference:
NVRTC 13 user guide, https://docs.nvidia.com/cuda/nvrtc/.

The PTX of one text may differ between processes by some register moves: NVRTC orders parts of its
work by addresses in memory (`docs/simulator.md`, Counters).
"""

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakValueDictionary

from tilewright.codegen import nvrtc_library
from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.side_by_side import side_by_side
from tilewright.errors import TilewrightError
from tilewright.stages import stage

DEFAULT_TARGET = "sm_90a"
STANDARD_OPTIONS = ("--std=c++17", "-lineinfo", "--fmad=false")
"""
Compiler options of every compilation.

`-lineinfo` makes the `.loc` directives from which the simulator gets source lines. `--fmad=false`
keeps compilers from contracting products and sums; each compiler on the way to machine code would
contract different ones.
"""

_FIRST_WITH_CACHE = (12, 9)
"""First NVRTC version with a cache of its own, which it uses if there is a driver."""

_FIRST_WITH_MINIMAL = (13, 0)
"""
First NVRTC version for which cubins are compiled without declarations that kernels do not use:
textures, surfaces and the CUDA run time. This takes 4 ms less, of 25 for the smallest kernel.
"""

_MOST_MEMOISED = 256
"""Maximum number of results that are memoised, each of some 100 kB; a model has tens of kernels."""


class CudaCompileError(TilewrightError):
    """NVRTC's refusal of a source. `log` has its messages, each `name(line): error: ...`."""

    def __init__(self, name: str, log: str):
        self.log = log
        first = re.search(r"^(.*)\((\d+)\): (?:catastrophic )?error: (.*)$", log, re.MULTILINE)
        where = f"{first[1]}:{first[2]}" if first else name
        message = f"CUDA does not compile: {first[3]}" if first else f"CUDA does not compile: {log}"
        super().__init__(message, where=where)


@dataclass(frozen=True)
class Compiled:
    """PTX text and the compiler's log (warnings; empty if there are none)."""

    ptx: str
    log: str


@dataclass(frozen=True)
class CompiledCubin:
    """
    A cubin for one target, and the PTX that it was made from.

    The log has the registers, spills and shared memory of each kernel.
    """

    cubin: bytes
    ptx: str
    log: str


class _Request(NamedTuple):
    """All inputs of a compilation, by which its result is memoised."""

    source: str
    target: str
    name: str
    options: tuple[str, ...]


_recent_cubins: WeakValueDictionary[_Request, CompiledCubin] = WeakValueDictionary()
"""
Cubins that `_compiled_cubin` still memoises, by request.

`compile` returns their PTX instead of compiling again. The search for spills, the report and the
simulator compile the same text one after the other.
"""


def available() -> bool:
    """True if NVRTC can be loaded here."""
    try:
        nvrtc_library.load()
    except NvrtcUnavailable:
        return False
    return True


def version() -> tuple[int, int]:
    """Return NVRTC's version, as `(13, 0)`."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(nvrtc_library.load().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


def compile(
    source: str,
    target: str = DEFAULT_TARGET,
    *,
    name: str = "kernel.cu",
    options: Sequence[str] = (),
) -> Compiled:
    """
    Compile CUDA text to PTX for the virtual architecture of `target` (`sm_90a` -> `compute_90a`).

    Messages call the text `name`. Raises `CudaCompileError`, `NvrtcUnavailable`.
    """
    nvrtc_library.load()
    request = _Request(source, target, name, (*STANDARD_OPTIONS, *options))
    if (made := _recent_cubins.get(request)) is not None and "warning" not in made.log:
        return Compiled(made.ptx, "")
    return _compiled(request)


@lru_cache(maxsize=_MOST_MEMOISED)
def _compiled(request: _Request) -> Compiled:
    architecture = request.target.replace("sm_", "compute_")
    with _Program(request.source, request.name) as program:
        log = program.compile([f"--gpu-architecture={architecture}", *request.options])
        return Compiled(program.ptx(), log)


def compile_cubin(
    source: str,
    target: str = DEFAULT_TARGET,
    *,
    name: str = "kernel.cu",
    options: Sequence[str] = (),
) -> CompiledCubin:
    """
    Compile CUDA text to machine code for `target`; the log has the output of `ptxas -v`.

    Messages call the text `name`. Raises `CudaCompileError`, `NvrtcUnavailable`.
    """
    nvrtc_library.load()
    request = _Request(source, target, name, (*STANDARD_OPTIONS, *options))
    return _compiled_cubin(request)


def compile_cubins(
    sources: Sequence[str], target: str, *, name: str = "kernel.cu"
) -> list[CompiledCubin]:
    """Compile CUDA texts to machine code, in parallel on all cores. Raises as `compile_cubin`."""
    with stage(f"compile {name} by NVRTC"):
        return side_by_side(lambda text: compile_cubin(text, target, name=name), sources)


def compile_each(sources: Sequence[str], target: str, *, name: str = "kernel.cu") -> list[Compiled]:
    """Compile CUDA texts to PTX, in parallel on all cores. Raises as `compile`."""
    with stage(f"compile {name} by NVRTC"):
        return side_by_side(lambda text: compile(text, target, name=name), sources)


@lru_cache(maxsize=_MOST_MEMOISED)
def _compiled_cubin(request: _Request) -> CompiledCubin:
    arguments = [f"--gpu-architecture={request.target}", "--ptxas-options=-v", *request.options]
    if version() >= _FIRST_WITH_MINIMAL:
        arguments.append("--minimal")
    with _Program(request.source, request.name) as program:
        log = program.compile(arguments)
        made = CompiledCubin(program.output("CUBIN"), program.ptx(), log)
    _recent_cubins[request] = made
    return made


class _Program:
    """An `nvrtcProgram`, destroyed at the end of its `with`."""

    def __init__(self, source: str, name: str):
        self.library = nvrtc_library.load()
        self.name = name
        self.handle = ctypes.c_void_p()
        _check(
            self.library.nvrtcCreateProgram(
                ctypes.byref(self.handle), source.encode(), name.encode(), 0, None, None
            )
        )

    def __enter__(self) -> "_Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.library.nvrtcDestroyProgram(ctypes.byref(self.handle))

    def compile(self, options: Sequence[str]) -> str:
        if version() >= _FIRST_WITH_CACHE:
            options = [*options, "--no-cache"]  # results from NVRTC's cache have no log
        array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        with stage(f"compile {self.name} by NVRTC"):
            status = self.library.nvrtcCompileProgram(self.handle, len(options), array)
        log = self.output("ProgramLog").rstrip(b"\0").decode().strip()
        if status:
            raise CudaCompileError(self.name, log or _status_text(status))
        return log

    def ptx(self) -> str:
        return self.output("PTX").rstrip(b"\0").decode()

    def output(self, what: str) -> bytes:
        """
        Return the bytes that `nvrtcGet<what>` writes; `nvrtcGet<what>Size` gives their number.
        """
        size = ctypes.c_size_t()
        _check(getattr(self.library, f"nvrtcGet{what}Size")(self.handle, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        _check(getattr(self.library, f"nvrtcGet{what}")(self.handle, buffer))
        return buffer.raw


def _check(status: int) -> None:
    if status:
        raise TilewrightError(f"NVRTC failed: {_status_text(status)}")


def _status_text(status: int) -> str:
    text = nvrtc_library.load().nvrtcGetErrorString
    text.restype = ctypes.c_char_p
    return text(status).decode()
