# SPDX-License-Identifier: Apache-2.0
"""Measurements of compiling a program: the time, and the size of the result."""

import gc
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

from rich.table import Table
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp

import tilewright
from tilewright.codegen.printer import cuda_source
from tilewright.dialects import loop
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import Expression
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.pipelines import TO_LOOP, TO_TENSOR, to_tile
from tilewright.tools.output.output_path import write_text


@dataclass(frozen=True)
class Measured:
    """Times and sizes of compiling one program."""

    name: str
    capture_s: float
    """CPU seconds of PyTorch's export and the translation to Torch IR."""
    lower_s: float
    """CPU seconds from Torch IR to the measured level; at CUDA level including the text."""
    kernels: int
    launches: int
    peak_bytes: int
    """Peak bytes of all intermediate buffers, with the memory reuse of the plan."""
    sum_bytes: int
    """Total bytes of all intermediate buffers, if no two shared memory."""


def measure(name: str, program: Expression, level: str, repeat: int) -> Measured:
    """
    Capture a program once, and lower it to `level` `repeat` times; return the measurements, with
    the fastest time.
    """
    captured, capture_s = timed(lambda: capture(program.module, program.args, program.kwargs))
    lower_s = min(timed(lambda: lowered(captured, level))[1] for _ in range(repeat))
    planned = tilewright.lower(captured, "kernel", db=False)
    return Measured(name, capture_s, lower_s, *_plan(planned))


def lowered(captured: Captured, level: str) -> str | ModuleOp:
    """Return the program at `level`; at CUDA level as the text that NVRTC compiles."""
    module = tilewright.lower(captured, level, db=False)
    return cuda_source(module) if level == Level.CUDA else module


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """
    Return the action's result and its CPU seconds; garbage of earlier actions is collected before.
    """
    gc.collect()
    start = process_time()
    result = action()
    return result, process_time() - start


def _plan(module: ModuleOp) -> tuple[int, int, int, int]:
    """Return the kernels, launches, peak bytes and total bytes of a program at Kernel IR."""
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    launches = [op for op in main.walk() if isinstance(op, loop.LaunchOp)]
    kernels = {launch.kernel.string_value() for launch in launches}
    totals = [main.attributes.get(f"plan.{key}_bytes") for key in ("peak", "sum")]
    peak, total = (t.value.data if isinstance(t, IntegerAttr) else 0 for t in totals)
    return len(kernels), len(launches), peak, total


def figures_table(title: str, what: str, columns: Sequence[str]) -> Table:
    """
    Return an empty table whose first column is `what`, and whose other columns are for figures.
    """
    shown = Table(title=title)
    shown.add_column(what, no_wrap=True)
    for column in columns:
        shown.add_column(column, justify="right")
    return shown


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write the measurements to a JSON file."""
    write_text(str(path), json.dumps(content, indent=1) + "\n")


def environment() -> dict[str, str]:
    """Return the versions and the pipeline, which the measured times depend on."""
    packages = [name for name in ("torch", "xdsl", "transformers") if find_spec(name)]
    return {
        "tilewright": tilewright.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "pipeline": ",".join((TO_TENSOR, TO_LOOP, to_tile())),
    }
