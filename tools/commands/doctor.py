# SPDX-License-Identifier: Apache-2.0
"""Command `tilewright doctor`: print the installed parts, and what works with them."""

import argparse
import platform
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple

from rich.table import Table

import tilewright
from tilewright.codegen import nvrtc
from tilewright.codegen.file_cache import default_folder, kept_in, reason_against_folder
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.report.disassemble import find_nvdisasm
from tilewright.codegen.runtime.gpu_backend import best_driver, reason_against_gpu
from tilewright.stages import stage
from tilewright.tools.output.terminal import console, show, table
from tilewright.tools.toolkit import find_tool, use_cuda_home
from tilewright.tuning.own_database import may_be_there, own_database


class Part(NamedTuple):
    """Software or hardware that may be installed."""

    name: str
    find: Callable[[], str | None]
    """Function that returns the part's version or place, or None if it is missing."""
    use: str
    """Purpose of the part."""
    remedy: str
    """Command or advice for a missing part."""


def run(args: argparse.Namespace) -> int:
    """Print the parts, and what works with them; return 0."""
    use_cuda_home()
    out = console(args.color, sys.stdout)
    parts = table("part", "found", "for", "if missing")
    for part in PARTS:
        with stage(f"look for {part.name}"):
            found = part.find()
        shown = "[red]no[/]" if found is None else found
        parts.add_row(part.name, shown, part.use, "" if found else part.remedy)
    show(out, parts)
    out.print()
    show(out, _abilities())
    return 0


def _abilities() -> Table:
    rows = table("what works", "")
    has_torch, has_nvrtc = find_spec("torch") is not None, nvrtc.available()
    no_gpu = _reason_against_gpu(has_torch, has_nvrtc)
    for ability, works, reason in (
        ("IR to IR and to CUDA text (opt-tool, compile FILE)", True, ""),
        ("PyTorch to CUDA text (compile -c)", has_torch, "needs torch"),
        ("run on the simulator, with all checks", has_nvrtc, "needs NVRTC"),
        ("compare a run with PyTorch (run -c)", has_torch and has_nvrtc, "needs torch and NVRTC"),
        ("report on machine code (compile --report)", has_nvrtc, "needs NVRTC"),
        (_on_gpu(no_gpu), no_gpu is None, no_gpu or ""),
    ):
        rows.add_row(ability, "[green]yes[/]" if works else f"[red]no[/]: {reason}")
    return rows


def _on_gpu(no_gpu: str | None) -> str:
    return f"run on a GPU, by {best_driver()}" if no_gpu is None else "run on a GPU"


def _reason_against_gpu(has_torch: bool, has_nvrtc: bool) -> str | None:
    """Reason why no GPU can be used, or None."""
    return reason_against_gpu() if has_torch and has_nvrtc else "needs torch and NVRTC"


def _package(name: str) -> Callable[[], str | None]:
    def find() -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    return find


def _nvrtc() -> str | None:
    return "{}.{}".format(*nvrtc.version()) if nvrtc.available() else None


def _nvdisasm() -> str | None:
    path = find_nvdisasm()
    return None if path is None else str(path)


def _gpu() -> str | None:
    gpu = present_gpu()
    return None if gpu is None else "{}, compute capability {}.{}".format(gpu.name, *gpu.capability)


def _database() -> str | None:
    path = own_database()
    return str(path) if may_be_there(path) else None


def _cache() -> str:
    if (folder := default_folder()) is None:
        return "off"
    if reason := reason_against_folder(folder):
        return f"not used: {reason}"
    return f"{folder}, {sum(kept.bytes for kept in kept_in(folder)) / (1 << 20):.0f} MiB"


_CUDA = "pip install 'tilewright\\[cuda]'"
_GPU = "pip install 'tilewright\\[gpu]'"

PARTS = (
    Part("tilewright", lambda: tilewright.__version__, "", ""),
    Part("Python", platform.python_version, "", ""),
    Part("xdsl", _package("xdsl"), "the IRs", "pip install tilewright"),
    Part("numpy", _package("numpy"), "interpreters and simulator", "pip install tilewright"),
    Part("torch", _package("torch"), "reading PyTorch programs", "pip install tilewright"),
    Part("safetensors", _package("safetensors"), "weights, run --inputs", "pip install tilewright"),
    Part("NVRTC", _nvrtc, "compiling CUDA: the simulator", _CUDA),
    Part("nvdisasm", _nvdisasm, "machine code as text", _CUDA),
    Part("GPU", _gpu, "fast runs", "the simulator needs none"),
    Part("pycuda", _package("pycuda"), "running on a GPU", f"{_GPU}; optional"),
    Part("cuda-bindings", _package("cuda-bindings"), "running on a GPU", "optional"),
    Part("ncu", partial(find_tool, "ncu"), "run --profile", "part of the CUDA toolkit"),
    Part("matplotlib", _package("matplotlib"), "bench --plot", "pip install 'tilewright\\[plot]'"),
    Part("z3", _package("z3-solver"), "prove", "pip install 'tilewright\\[prove]'"),
    Part("cache", _cache, "compiled programs", ""),
    Part("database", _database, "measured schedules", "optional"),
    Part(
        "transformers",
        _package("transformers"),
        "language models",
        "pip install 'tilewright\\[models]'",
    ),
)
