# SPDX-License-Identifier: Apache-2.0
"""
Measured times of kernels, each with a program of this compiler that does the same work.

| data set  | measured times                               | our kernel                      |
|-----------|----------------------------------------------|---------------------------------|
| `sgemm`   | cuBLAS, float32 (`gemm-fp32.csv`)            | same tile, depth and grid; FFMA |
| `bf16`    | cuBLAS, bfloat16 (`gemm-bf16.csv`)           | planner's, on `mma.sync`        |
| `rows`    | PyTorch on A100 (`rows-fp32-a100.csv`)       | planner's                       |
| `memory`  | KernelBench, memory-bound, eager or compiled | planner's                       |
| `tilings` | our schedules of two products on an H200     | measured schedule               |
| `suite84` | our row kernels on an H100                   | planner's                       |

Of eager and compiled times the shorter one counts.

The CSV files are from other projects and not part of this repository; `--measured` names their
folder. Rows of `tilings` that were copied by TMA are left out: their kernels have changed since.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from gpu_checks.places import RESULTS, ROOT, SUITE
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.tile import Join
from tilewright.errors import UnsupportedError
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES, BlockTile
from tilewright.passes.tile.planner.contraction import Contraction, contraction_of
from tilewright.passes.tile.planner.plan_schedules import launched
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.tools.bench.suite import Case, read_cases
from tilewright.tuning.evaluators.compiled import scheduled

Program = Callable[[Target], ModuleOp]
Facts = dict[str, float]


class MeasuredTime(NamedTuple):
    """A measured time, and the program whose estimate is compared with it."""

    name: str
    device: str
    """Name of the device in `codegen/report/clock/machine.py`."""
    seconds: float
    program: Program
    tile: Facts
    """Tile, blocks and sum length of a product, for the model of waves; empty for others."""


def _empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*shape, device="meta", dtype=dtype)


def _captured(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Program:
    """Return a program of a function of float32 tensors, with the planner's schedule."""
    return lambda _: api.capture(function, *(_empty(*shape) for shape in shapes)).module


def _with_tiling(
    function: Callable[..., Any], inputs: tuple[torch.Tensor, ...], make: Callable[..., Tiling]
) -> Program:
    """Return a program of a product with the tiling that `make` returns for its problem."""

    def program(target: Target) -> ModuleOp:
        module = api.lower(api.capture(function, *inputs), "loop", target.name)
        (kernel,) = [op for op in module.ops if isinstance(op, loop.KernelOp)]
        lift, launch = launched(kernel)
        problem = contraction_of(launch, target)
        if problem is None:
            raise UnsupportedError("the kernel is not a contraction")
        steps = make(problem).pipeline(problem, target)
        return scheduled(str(kernel), ",".join([lift, *_without_tma(steps)]))

    return program


def _without_tma(steps: list[str]) -> list[str]:
    """Return the steps without copies by TMA, which cuBLAS's float32 kernels do not use either."""
    return [step for step in steps if step not in ("tma-copy", "split-inner-for-swizzle")]


def _tile(rows: int, columns: int) -> BlockTile | None:
    """Return our tile without tensor cores of this size, the one with most elements a thread."""
    fitting = [t for t in BLOCK_TILES if (t.m, t.n) == (rows, columns) and not t.is_matrix]
    return max(fitting, key=lambda t: t.fm * t.fn, default=None)


def sgemm(folder: Path) -> Iterator[MeasuredTime]:
    """Yield the float32 products of cuBLAS whose tile and grid our kernels can have."""
    for row in _csv(folder / "gemm-fp32.csv"):
        size = re.search(r"tilesize(\d+)x(\d+)|sgemm_(\d+)x(\d+)", row["kernel"])
        if size is None:
            continue
        one, other = (int(each) for each in size.groups() if each)
        batch, m, n, k = (int(row[key]) for key in ("batch", "m", "n", "k"))
        tile = _tile_of_grid(row["grid"], (batch, m, n), (one, other))
        if tile is not None:
            yield _sgemm(row, (batch, m, n, k), tile, _product(row["grid"]))


def _tile_of_grid(
    grid: str, sizes: tuple[int, int, int], sides: tuple[int, int]
) -> BlockTile | None:
    """
    Return our tile with these sides, in the order that gives the grid; None without one. The grid
    itself decides between two orders with as many blocks.
    """
    batch, m, n = sizes
    fitting: list[tuple[bool, BlockTile]] = []
    for rows, columns in (sides, sides[::-1]):
        counts = -(-m // rows), -(-n // columns)
        tile = _tile(rows, columns)
        if tile is not None and batch * counts[0] * counts[1] == _product(grid):
            is_same = sorted(counts) == sorted(int(each) for each in grid.split("x")[:2])
            fitting.append((is_same, tile))
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


def _sgemm(
    row: Mapping[str, str], sizes: tuple[int, int, int, int], tile: BlockTile, blocks: int
) -> MeasuredTime:
    batch, m, n, k = sizes
    inputs = _empty(batch, m, k), _empty(batch, k, n)
    function: Callable[..., Any] = torch.bmm
    if row["op"] == "linear":
        inputs = _empty(m, k), _empty(n, k)
        function = torch.nn.functional.linear

    def make(_: Contraction) -> Tiling:
        return Tiling(tile, 8, 1, 3)

    facts: Facts = {"m": tile.m, "n": tile.n, "k": k, "blocks": blocks}
    name = f"{row['op']}.{batch}x{m}x{n}x{k}"
    program = _with_tiling(function, inputs, make)
    return MeasuredTime(name, row["gpu"], float(row["ms"]) / 1e3, program, facts)


def bf16(folder: Path) -> Iterator[MeasuredTime]:
    """Yield the products in bfloat16 of cuBLAS."""
    for row in _csv(folder / "gemm-bf16.csv"):
        m, n, k = (int(row[key]) for key in ("m", "n", "k"))
        yield MeasuredTime(
            f"linear.{m}x{n}x{k}", row["gpu"], float(row["ms"]) / 1e3, _half_product(m, n, k), {}
        )


def _half_product(m: int, n: int, k: int) -> Program:
    inputs = (_empty(m, k, dtype=torch.bfloat16), _empty(n, k, dtype=torch.bfloat16))
    return lambda _: api.capture(torch.nn.functional.linear, *inputs).module


def rows(folder: Path) -> Iterator[MeasuredTime]:
    """Yield the row and pointwise kernels of PyTorch on A100."""
    for row in _csv(folder / "rows-fp32-a100.csv"):
        shape = int(row["rows"]), int(row["columns"])
        function, operands = _ROWS[row["op"]]
        yield MeasuredTime(
            f"{row['op']}.{shape[0]}x{shape[1]}",
            row["gpu"],
            float(row["ms"]) / 1e3,
            _captured(function, *[shape] * operands),
            {},
        )


def _layer_norm(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def _add_number(x: torch.Tensor) -> torch.Tensor:
    return x + 2.5


def _mul_number(x: torch.Tensor) -> torch.Tensor:
    return x * 2.5


def _div_number(x: torch.Tensor) -> torch.Tensor:
    return x / 2.5


def _pow_number(x: torch.Tensor) -> torch.Tensor:
    return x**2.5


_ROWS: dict[str, tuple[Callable[..., Any], int]] = {
    "ln": (_layer_norm, 1),
    "softmax": (_softmax, 1),
    "add": (torch.add, 2),
    "mul": (torch.mul, 2),
    "div": (torch.div, 2),
    "pow": (torch.pow, 2),
    "addu": (_add_number, 1),
    "mulu": (_mul_number, 1),
    "divu": (_div_number, 1),
    "powu": (_pow_number, 1),
    "tanh": (torch.tanh, 1),
    "relu": (torch.relu, 1),
    "gelu": (torch.nn.functional.gelu, 1),
}
"""Operations of `rows-fp32-a100.csv`; those with `u` have a number as second operand."""

_MEMORY_BOUND = {"pointwise", "norm", "pool", "reduce", "loss", "scan", "softmax"}


def memory(_: Path) -> Iterator[MeasuredTime]:
    """Yield the memory-bound programs of KernelBench on an H100."""
    path = ROOT / "benchmarks" / "kernelbench-level1.json"
    published = {
        each["name"]: each["published_ms"] for each in json.loads(path.read_text())["cases"]
    }
    for case in read_cases(path):
        if case.op in _MEMORY_BOUND:
            seconds = min(published[case.name].values()) / 1e3
            yield MeasuredTime(case.name, "h100-sxm", seconds, _of_case(case), {})


def suite84(_: Path) -> Iterator[MeasuredTime]:
    """Yield our own row kernels of suite84 on an H100."""
    path = RESULTS / "nvidia-h100-80gb-hbm3" / "2026-11-26-271d837" / "suite84.json"
    measured = {each["name"]: each["us"] for each in json.loads(path.read_text())["cases"]}
    for case in read_cases(SUITE):
        us = measured.get(case.name)
        if us and case.op in ("softmax", "rmsnorm", "silu_mul"):
            yield MeasuredTime(case.name, "h100-sxm", us / 1e6, _of_case(case), {})


def tilings(_: Path) -> Iterator[MeasuredTime]:
    """Yield our own schedules of two products on an H200."""
    found = json.loads((RESULTS / "nvidia-h200" / "tilings.json").read_text())["cases"]
    for case in read_cases(SUITE):
        for row in found.get(case.name, []):
            if row["us"] is not None and row["copies"] == "async":
                yield _measured_tiling(case, row)


def _measured_tiling(case: Case, row: Mapping[str, Any]) -> MeasuredTime:
    m, n, fm, fn = row["tile"]
    (tile,) = [t for t in BLOCK_TILES if t[:4] == (m, n, fm, fn) and not t.is_matrix]

    def make(_: Contraction) -> Tiling:
        return Tiling(tile, row["bk"], row["split"], 3, Join(row["join"] or Join.LAST_BLOCK))

    name = f"{case.name}.{m}x{n}.{fm}x{fn}.bk{row['bk']}.split{row['split']}.{row['join']}"
    program = _with_tiling(case.function, tuple(case.inputs("meta")), make)
    return MeasuredTime(name, "h200", row["us"] / 1e6, program, {})


def _of_case(case: Case) -> Program:
    return lambda _: api.capture(case.function, *case.inputs("meta")).module


def _csv(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as file:
        yield from csv.DictReader(file)


def _product(grid: str) -> int:
    x, y, z = (int(each) for each in grid.split("x"))
    return x * y * z


DATA: dict[str, Callable[[Path], Iterator[MeasuredTime]]] = {
    "sgemm": sgemm,
    "bf16": bf16,
    "rows": rows,
    "memory": memory,
    "tilings": tilings,
    "suite84": suite84,
}
"""Data sets by name."""
