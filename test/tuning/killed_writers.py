# SPDX-License-Identifier: Apache-2.0
"""
Writers of databases that are killed: `python killed_writers.py FOLDER ROUNDS`.

In each round a process writes measurements as fast as it can, and reports each one that is kept,
until it is killed. The first that opens a database also creates it. Afterwards all reported
measurements must be in the database. The script prints JSON: the number of reports, and problems.

It is a process of its own that has loaded few modules, so that it forks quickly.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from itertools import count
from pathlib import Path

from tilewright.tuning.database import Database
from tilewright.tuning.key import Key
from tilewright.tuning.measurement import Measurement

KEY = Key("0" * 32, "f32", "sm_90a", "a GPU", "gpu", 1, "13.0")
ROUNDS_A_FILE = 10
LONGEST_S = 0.02


def write(path: Path, number: int, reports: int) -> None:
    """Write measurements until killed, and report each one that is kept."""
    with Database.writing(path) as database:
        for n in count():
            schedule = f"{number}.{n}"
            database.add(KEY, Measurement(schedule, float(n)))
            os.write(reports, f"{schedule}\n".encode())


def killed(path: Path, number: int, delay: float) -> set[str]:
    """Return the reports of a writer that is killed while it opens the file or writes."""
    read, reports = os.pipe()
    if (writer := os.fork()) == 0:
        write(path, number, reports)
    os.close(reports)
    with open(read) as pipe:
        lines = [pipe.readline() for _ in range(number % 4)]
        time.sleep(delay)
        os.kill(writer, signal.SIGKILL)
        _, status = os.waitpid(writer, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "it has ended by itself"
        return set("".join([*lines, pipe.read()]).split())


def problem(path: Path, reports: set[str]) -> str:
    """Return the fault of a database; empty without a fault, or if no writer created it."""
    if not path.exists() and not reports:
        return ""
    with Database.reading(path) as database:
        kept = {record.measurement.schedule for record in database.measurements(KEY)}
    (sound,) = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        return str(sound)
    return f"lost: {sorted(reports - kept)}" if reports - kept else ""


def main(folder: str, rounds: int) -> None:
    """Run all rounds."""
    delays = random.Random(0)
    everything: dict[Path, set[str]] = {}
    problems: list[str] = []
    for number in range(rounds):
        path = Path(folder) / f"{number // ROUNDS_A_FILE}.sqlite"
        reports = everything.setdefault(path, set())
        reports |= killed(path, number, delays.uniform(0, LONGEST_S))
        problems += filter(None, [problem(path, reports)])
    kept = sum(map(len, everything.values()))
    print(json.dumps({"files": len(everything), "kept": kept, "problems": problems}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
