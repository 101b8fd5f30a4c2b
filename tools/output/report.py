# SPDX-License-Identifier: Apache-2.0
"""Output of `tilewright run`: two tables for people, or one JSON object for programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from rich.console import Console
from rich.table import Table

from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.outcome import Execution, KernelReport, Problem
from tilewright.codegen.report import StaticReport, as_json
from tilewright.codegen.simulator import Counters
from tilewright.codegen.slab import Slab
from tilewright.interpreters.comparison import Comparison
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.static_report import print_static_report
from tilewright.tools.output.terminal import show, table

SCHEMA = 1
"""Version of the JSON's schema."""


@dataclass(frozen=True)
class Report:
    """Report on a run, with the comparisons of its results."""

    device: str
    target: str
    source: str
    """CUDA text, whose lines the problems refer to."""
    execution: Execution
    comparisons: list[Comparison]
    rounded_by: str
    slab: Slab
    """Memory of the intermediate buffers."""
    static: StaticReport | None = None
    """Report on the kernels' machine code, if it was requested."""

    @property
    def ok(self) -> bool:
        """True if every result is right and no kernel has a problem."""
        return not any(self.errors())

    @property
    def compared(self) -> bool:
        """True if every result was compared with a reference."""
        return all(comparison.limit is not None for comparison in self.comparisons)

    def errors(self) -> Iterator[str]:
        """
        Yield a message for each problem of a kernel, with its source line, and for each wrong
        output.
        """
        for problem in self.execution.problems:
            yield problem_text(problem, SOURCE_NAME, self.source)
        for number, comparison in enumerate(self.comparisons):
            if comparison.reason:
                yield f"error: output {number} is wrong: {comparison.reason}"


def problem_text(problem: Problem, name: str, source: str) -> str:
    """Return the message for a problem, with its line of `source`, the text of the file `name`."""
    place = f"{name}:{problem.line}: " if problem.line else ""
    error = f"{place}error: kernel '{problem.kernel}': {problem.message}"
    line = source.splitlines()[problem.line - 1 : problem.line] if problem.line else []
    note = [f"{place}note: from {problem.note}"] if problem.note else []
    return "\n".join([error, *line, *note])


def print_report(report: Report, console: Console) -> None:
    """Print the tables of outputs and kernels, and the verdict."""
    console.print(f"device {report.device}, target {report.target}\n", markup=False)
    print_outputs(report, console)
    console.print()
    if report.execution.kernels:
        show(console, _kernels_table(report))
    else:
        console.print("no kernels to run")
    if report.slab.slots:
        peak, total = report.slab.peak_bytes, report.slab.sum_bytes
        console.print(f"\nintermediate buffers: {peak} B, {total} B if none shared memory")
    if report.static is not None:
        console.print()
        print_static_report(report.static, console)
    print_verdict(report, console, "name a program with --against")


def print_outputs(report: Report, console: Console) -> None:
    """Print the table that compares each output with its reference."""
    show(console, _outputs_table(report))


def print_verdict(report: Report, console: Console, to_compare: str) -> None:
    """Print whether all results are right; `to_compare` is the remedy if nothing was compared."""
    right = ("bold green", _right(report, to_compare))
    style, verdict = right if report.ok else ("bold red", "wrong")
    console.print(f"\n[{style}]{verdict}[/]")


def _right(report: Report, to_compare: str) -> str:
    execution = report.execution
    if execution.is_built_on_samples:
        return "not compared: kernels read outputs of blocks that did not run"
    if not report.compared:
        return f"not compared: {to_compare}"
    return "right in the blocks that ran" if execution.is_sample else "right"


def _outputs_table(report: Report) -> Table:
    has_against = any(c.against_error is not None for c in report.comparisons)
    errors = ["max error", *(["to --against"] if has_against else []), report.rounded_by, "allowed"]
    rows = table("output", "shape", "dtype", *errors, numbers=errors)
    for number, c in enumerate(report.comparisons):
        found = [c.error, *([c.against_error] if has_against else []), c.rounded_error, c.limit]
        rows.add_row(str(number), _shape(c.shape), c.dtype, *map(_error, found))
    return rows


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _error(error: float | None) -> str:
    return "-" if error is None else f"{error:.2e}"


_COLUMNS = ("grid", "block", "shared", "instructions", "bank factor", "sectors", "sector factor")


def launches_table() -> Table:
    """Return an empty table of launches with their counters."""
    return table("kernel", *_COLUMNS, numbers=_COLUMNS)


def _kernels_table(report: Report) -> Table:
    rows = launches_table()
    for kernel in report.execution.kernels:
        launch = kernel.launch
        rows.add_row(
            launch.kernel,
            f"{kernel.blocks} of {launch.grid}" if kernel.is_sample else f"{launch.grid}",
            f"{launch.block}",
            f"{launch.shared_bytes} B",
            *_counted(kernel),
        )
    return rows


def _counted(kernel: KernelReport) -> tuple[str, ...]:
    return counter_cells(kernel.instructions, kernel.counters) if kernel.is_counted else ("-",) * 4


def counter_cells(instructions: int, counters: Counters) -> tuple[str, ...]:
    """Return the last cells of a launch's row: its thread-instructions and its counters."""
    return (
        f"{instructions}",
        _factor(counters.bank_factor, counters.shared_wavefronts),
        f"{counters.global_sectors}",
        _factor(counters.sector_factor, counters.global_sectors),
    )


def _factor(factor: float, count: int) -> str:
    return f"{factor:.2f}" if count else "-"


def write_json(report: Report, path: str, more: Mapping[str, Any]) -> None:
    """Write the JSON object to a file; `more` holds additional entries."""
    static = {} if report.static is None else {"report": as_json(report.static)}
    _write(
        path,
        {
            "schema": SCHEMA,
            "ok": report.ok,
            "device": report.device,
            "target": report.target,
            "errors": list(report.errors()),
            "outputs": [_output(c, report.rounded_by) for c in report.comparisons],
            "kernels": [_kernel(kernel) for kernel in report.execution.kernels],
            "peak_bytes": report.slab.peak_bytes,
            "sum_bytes": report.slab.sum_bytes,
            **static,
            **more,
        },
    )


def write_json_error(message: str, device: str, target: str, path: str) -> None:
    """Write the JSON object of a run that failed."""
    empty: dict[str, Any] = {"outputs": [], "kernels": []}
    head = {"schema": SCHEMA, "ok": False, "device": device, "target": target}
    _write(path, {**head, "errors": [message], **empty})


def _write(path: str, content: dict[str, Any]) -> None:
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def _output(comparison: Comparison, rounded_by: str) -> dict[str, Any]:
    return {
        "shape": list(comparison.shape),
        "dtype": comparison.dtype,
        "ok": not comparison.reason,
        "max_abs_err": _json_error(comparison.error),
        f"{_key(rounded_by)}_max_abs_err": comparison.rounded_error,
        "against_max_abs_err": _json_error(comparison.against_error),
        "allowed_abs_err": comparison.limit,
    }


def _json_error(error: float | None) -> float | None:
    """Return the error, or None for NaN, which JSON does not have."""
    return None if error is None or isnan(error) else error


def _key(rounded_by: str) -> str:
    return "torch" if rounded_by == "PyTorch" else rounded_by


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    launch = kernel.launch
    ran: dict[str, Any] = {
        "name": launch.kernel,
        "grid": launch.grid,
        "blocks": kernel.blocks,
        "block": launch.block,
        "smem_bytes": launch.shared_bytes,
    }
    if not kernel.is_counted:
        return ran
    return {**ran, **counters_json(kernel.instructions, kernel.counters)}


def counters_json(instructions: int, counters: Counters) -> dict[str, int]:
    """Return the entries of a launch's thread-instructions and counters."""
    return {
        "instructions": instructions,
        "shared_wavefronts": counters.shared_wavefronts,
        "ideal_shared_wavefronts": counters.ideal_shared_wavefronts,
        "global_sectors": counters.global_sectors,
        "ideal_global_sectors": counters.ideal_global_sectors,
        "global_bytes": counters.global_bytes,
        "minimum_global_bytes": counters.minimum_global_bytes,
    }
