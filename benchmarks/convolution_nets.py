# SPDX-License-Identifier: Apache-2.0
"""
Cost of `tilewright compile --report` for convolutional networks, which have many kernels:

    python benchmarks/convolution_nets.py
    python benchmarks/convolution_nets.py --only resnet101 --json results.json
    python benchmarks/convolution_nets.py --base ../before    # and ratios to another checkout

Each net is compiled in a process of its own, including NVRTC, nvdisasm and all imports, without
caches. With `--base` the checkouts take turns, because the speed of a machine changes within
minutes.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from measure import environment, figures_table, write_json
from rich.console import Console

NETS = ("resnet101", "googlenet", "densenet121")

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Measured:
    """CPU time, wall time and number of kernels of compiling a net."""

    net: str
    cpu_s: float
    """CPU seconds of the process and of its child processes."""
    wall_s: float
    kernels: int


@dataclass(frozen=True)
class Compared:
    """Costs of compiling a net with this checkout and with another one."""

    net: str
    after: Measured
    before: Measured | None

    @property
    def ratio(self) -> float | None:
        """Ratio of the CPU seconds to those of the other checkout."""
        return None if self.before is None else self.after.cpu_s / self.before.cpu_s


def measured(net: str, root: Path) -> Measured:
    """Compile a net with the packages of the checkout `root`, and return the cost."""
    command = [sys.executable, "-m", "tilewright.tools.cli", "compile", "--report", "--no-db"]
    environment = {**os.environ, "PYTHONPATH": str(root), "TILEWRIGHT_CACHE": "off"}
    start, used = time.monotonic(), _children_s()
    done = subprocess.run(
        [*command, "--target", "sm_90a", f"{_HERE / 'nets.py'}:{net}"],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
        env=environment,
    )
    wall_s, cpu_s = time.monotonic() - start, _children_s() - used
    table = done.stdout.partition("\n\n")[0]
    return Measured(net, cpu_s, wall_s, table.count("\n"))


def _children_s() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the nets, print the costs, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Measure what convolution nets cost to compile.")
    parser.add_argument("--only", choices=NETS, help="measure only this net")
    parser.add_argument("--base", type=Path, metavar="DIR", help="also measure the checkout DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    args = parser.parse_args(argv)
    columns = ("kernels", "CPU s", "wall s", "base CPU s", "base wall s", "ratio")
    shown = figures_table("compile --report", "net", columns)
    rows: list[Compared] = []
    for net in NETS if args.only is None else (args.only,):
        before = None if args.base is None else measured(net, args.base.resolve())
        row = Compared(net, measured(net, _HERE.parent), before)
        rows.append(row)
        figures = [f"{row.after.kernels}", f"{row.after.cpu_s:.1f}", f"{row.after.wall_s:.1f}"]
        if row.before is not None:
            figures += [f"{row.before.cpu_s:.1f}", f"{row.before.wall_s:.1f}", f"{row.ratio:.2f}"]
        shown.add_row(net, *figures)
    Console(width=100).print(shown)
    if args.json is not None:
        found = [{**asdict(row), "ratio": row.ratio} for row in rows]
        write_json(args.json, {"environment": environment(), "nets": found})


if __name__ == "__main__":
    main()
