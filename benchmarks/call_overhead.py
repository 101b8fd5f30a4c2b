# SPDX-License-Identifier: Apache-2.0
"""
Host overhead of a call, in microseconds, measured with a driver that launches nothing.

    python benchmarks/call_overhead.py
    python benchmarks/call_overhead.py --json benchmarks/results/call-overhead.json

`plan` is a `LoadedPlan`, which torch.compile calls. `program` is a `CompiledProgram`, which first
checks its arguments. `moved` is a plan whose inputs have other addresses in each of 16 calls, more
than are cached, so that launches are bound again. Times are CPU seconds of the fastest of five
rounds, as no call waits. The overhead of a real driver comes on top (`gpu_check.py`, `micro
launch.queued`).
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

from measure import environment, figures_table, write_json
from null_driver import NullDriver
from rich.console import Console

import tilewright
from tilewright.api import CompiledProgram
from tilewright.codegen.runtime import loaded_plan, tensors
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.frontend.expression import parse_expression

CASES: Mapping[str, str] = {
    "relu": "torch.relu(torch.randn(64, 64))",
    "multiply and add": "torch.randn(64, 64) * torch.randn(64, 64) + torch.randn(64, 64)",
    "linear": "nn.Linear(64, 64)(torch.randn(8, 64))",
    "8 linears and norms": (
        "m = nn.Sequential(*[x for _ in range(8) for x in (nn.Linear(64, 64), nn.LayerNorm(64))])\n"
        "m(torch.randn(8, 64))"
    ),
}
_TARGET = "sm_90a"
_PLACES = 16
_OF_CPU = 64
"""
Alignment of PyTorch's CPU memory in bytes, which is less than the 512 bytes of its GPU memory.
"""


@dataclass(frozen=True)
class Measured:
    """
    Host overhead of one call of a program in microseconds: by `plan`, by `moved`, and by `program`.
    """

    name: str
    launches: int
    inputs: int
    plan_us: float
    moved_us: float
    program_us: float


def measured(only: str, calls: int) -> Iterator[Measured]:
    """
    Yield the measured cases whose names contain `only`; each is called `calls` times in each of
    five rounds.
    """
    for name, text in CASES.items():
        if only in name:
            yield _measured(name, text, calls)


def _measured(name: str, text: str, calls: int) -> Measured:
    given = parse_expression(text)
    captured = tilewright.capture(given.module, *given.args, kwargs=given.kwargs)
    program = CompiledProgram(captured, GpuBackend(_TARGET, NullDriver()), _TARGET)
    plan = LoadedPlan(program.plan, NullDriver(), _TARGET)
    args = given.args
    places = [[value.clone() for value in args] for _ in range(_PLACES)]
    own = [i.tensor for i in captured.inputs if i.kind != "input"]
    values = cycle([_values(captured.inputs, place, own) for place in places])
    same = next(values)
    return Measured(
        name,
        len(plan.plan.launches),
        len(captured.inputs),
        _microseconds(lambda: plan(same), calls),
        _microseconds(lambda: plan(next(values)), calls),
        _microseconds(lambda: program(*args), calls),
    )


def _values(inputs: Sequence[Any], given: Sequence[Any], own: Sequence[Any]) -> list[Any]:
    """
    Return the tensors for a program's inputs, in order: `given`, those of the call, and `own`,
    those of the module.
    """
    called, kept = iter(given), iter(own)
    return [next(called if input.kind == "input" else kept) for input in inputs]


def _microseconds(action: Callable[[], Any], calls: int) -> float:
    return min(_round(action, calls) for _ in range(5)) * 1e6 / calls


def _round(action: Callable[[], Any], calls: int) -> float:
    start = process_time()
    for _ in range(calls):
        action()
    return process_time() - start


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the overheads, print them, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Measure what calls cost on the host.")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--calls", type=int, default=5000, help="calls in each round (5000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    args = parser.parse_args(argv)
    with (
        patch.object(loaded_plan, "ALIGNMENT", _OF_CPU),
        patch.object(tensors, "ALIGNMENT", _OF_CPU),
    ):
        rows = [*measured(args.only, args.calls)]
    columns = ["launches", "inputs", "plan", "moved", "program"]
    table = figures_table("microseconds of a call, without the driver", "program", columns)
    for row in rows:
        figures = (f"{us:.1f}" for us in (row.plan_us, row.moved_us, row.program_us))
        table.add_row(row.name, str(row.launches), str(row.inputs), *figures)
    Console(width=100).print(table)
    if args.json is not None:
        content = {"environment": environment(), "programs": [asdict(row) for row in rows]}
        write_json(args.json, content)


if __name__ == "__main__":
    main()
