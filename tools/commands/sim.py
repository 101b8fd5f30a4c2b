# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright sim FILE.cu`: run a kernel of CUDA or PTX in the simulator, and print its
findings, its counters and the arrays that it changed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from tilewright.codegen.outcome import Problem
from tilewright.codegen.simulator import Report, SimulatorError, simulate
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.ptx import parse
from tilewright.codegen.simulator_backend import DEFAULT_BUDGET
from tilewright.errors import UsageError
from tilewright.tools.input.cuda_file import CudaFile, read_cuda_file, source_name
from tilewright.tools.input.launch_arguments import (
    LaunchArgument,
    check_arguments,
    launch_arguments,
)
from tilewright.tools.output.output_path import check_path, write_bytes, write_text
from tilewright.tools.output.progress import progress
from tilewright.tools.output.report import (
    counter_cells,
    counters_json,
    launches_table,
    problem_text,
)
from tilewright.tools.output.terminal import console, show, table
from tilewright.tools.toolkit import use_cuda_home

SCHEMA = 1
"""Version of the JSON's schema."""

_SHOWN = 4
"""Number of elements of each array that are printed."""


class _Change(NamedTuple):
    """Argument after the run, and the number of its elements whose bits have changed."""

    argument: LaunchArgument
    changed: int


def run(args: argparse.Namespace) -> int:
    """Simulate the kernel and print the report; return 0 if there are no findings, else 1."""
    use_cuda_home()
    check_path(args.json)
    _check_folder(args.out)
    arguments = launch_arguments(args.args)
    with progress() as report_stage:
        report_stage("NVRTC")
        file = read_cuda_file(args.cuda, args.target, args.folders, args.macros)
        entry = file.entry(args.kernel)
        report_stage(f"simulate {source_name(entry)}")
        kernel, report, changes = _simulated(file, entry, arguments, args)
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    _print(out, file, kernel, report, changes, args)
    out.file.flush()
    problems = [Problem.of(source_name(entry), finding) for finding in report.errors]
    for problem in problems:
        print(problem_text(problem, file.path, file.text), file=sys.stderr)
    if args.out is not None:
        _write_arrays(Path(args.out), arguments)
    if args.json is not None:
        content = _json(file, kernel, report, changes, args)
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return 0 if report.ok else 1


def _check_folder(folder: str | None) -> None:
    """Raise `UsageError` unless files can be written to a folder, which may be missing."""
    if folder is None:
        return
    if Path(folder).is_file():
        raise UsageError(f"cannot write '{folder}': it is a file")
    check_path(str(Path(folder, "arg0.npy")) if Path(folder).is_dir() else folder)


def _simulated(
    file: CudaFile,
    entry: str,
    arguments: Sequence[LaunchArgument],
    args: argparse.Namespace,
) -> tuple[Kernel, Report, list[_Change]]:
    before = [np.array(argument.value) for argument in arguments]
    try:
        kernel = parse(file.ptx, entry)
        check_arguments(source_name(entry), kernel.parameters, arguments)
        report = simulate(
            file.ptx,
            entry,
            grid=args.grid,
            block=args.block,
            shared_bytes=args.shared,
            arguments=[argument.value for argument in arguments],
            budget=DEFAULT_BUDGET,
        )
    except SimulatorError as err:
        where = err.where.replace("line ", f"{file.path}:") or file.path
        message = err.message.replace(entry, source_name(entry))
        raise SimulatorError(message, where=where, remedy=err.remedy) from None
    pairs = zip(arguments, before, strict=True)
    return kernel, report, [_Change(new, _changed(new.value, old)) for new, old in pairs]


def _changed(after: Any, before: Any) -> int:
    """Return the number of elements that differ in any bit."""
    rows = [np.asarray(array).reshape(-1).view(np.uint8) for array in (after, before)]
    is_other = (rows[0] != rows[1]).reshape(-1, before.itemsize).any(1)
    return int(np.count_nonzero(is_other))


def _print(
    out: Console,
    file: CudaFile,
    kernel: Kernel,
    report: Report,
    changes: Sequence[_Change],
    args: argparse.Namespace,
) -> None:
    launch = launches_table()
    launch.add_row(
        source_name(kernel.name),
        "x".join(map(str, args.grid)),
        "x".join(map(str, args.block)),
        f"{_shared(kernel, args)} B",
        *counter_cells(report.instructions, report.counters),
    )
    show(out, launch)
    out.print()
    rows = table("argument", "type", "changed", "values", numbers=("changed",))
    for number, (argument, changed) in enumerate(changes):
        if argument.is_array:
            size = np.size(argument.value)
            rows.add_row(str(number), argument.type, f"{changed} of {size}", _values(argument))
    if rows.row_count:
        show(out, rows)
        out.print()
    style, found = ("green", "no") if report.ok else ("red", str(len(report.errors)))
    verdict = "1 finding" if len(report.errors) == 1 else f"{found} findings"
    out.print(f"[bold {style}]{verdict}[/]")


def _shared(kernel: Kernel, args: argparse.Namespace) -> int:
    """Return the bytes of shared memory of a block, static and dynamic."""
    static = (v.size for v in kernel.variables.values() if v.space == "shared")
    return args.shared + sum(static)


def _values(argument: LaunchArgument) -> str:
    """Return the first elements of an array."""
    first = np.ravel(argument.value)[:_SHOWN].tolist()
    words = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in first]
    return " ".join([*words, *(["..."] if np.size(argument.value) > _SHOWN else [])])


def _write_arrays(folder: Path, arguments: Sequence[LaunchArgument]) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as err:
        raise UsageError(f"cannot write '{folder}': {err.strerror}") from err
    for number, argument in enumerate(arguments):
        if not argument.is_array:
            continue
        array, content = np.asarray(argument.value), BytesIO()
        has_no_name = array.dtype.name == "bfloat16"
        np.save(content, array.astype(np.float32) if has_no_name else array)
        write_bytes(str(folder / f"arg{number}.npy"), content.getvalue())


def _json(
    file: CudaFile,
    kernel: Kernel,
    report: Report,
    changes: Sequence[_Change],
    args: argparse.Namespace,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "ok": report.ok,
        "file": file.path,
        "kernel": source_name(kernel.name),
        "target": file.target or None,
        "grid": args.grid,
        "block": args.block,
        "smem_bytes": _shared(kernel, args),
        "findings": [
            {"kind": finding.kind, "line": finding.line or None, "message": finding.message}
            for finding in report.errors
        ],
        **counters_json(report.instructions, report.counters),
        "arguments": [{"type": argument.type, "changed": changed} for argument, changed in changes],
    }
