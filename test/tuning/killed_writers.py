# SPDX-License-Identifier: Apache-2.0
"""
Writers of databases that are killed: `python killed_writers.py FOLDER ROUNDS`.

Each round a process writes measurements as fast as it can and says of each when it is kept, until
it is killed; the first that opens a database also makes it. Then all that any of them has said must
be there. At the end it prints JSON: how much was said, and the end of what could not be found.

A process of its own, which has loaded so little that it forks in no time.
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


def write(path: Path, number: int, said: int) -> None:
    """Write until the end, and say what is kept."""
    with Database.writing(path) as database:
        for n in count():
            schedule = f"{number}.{n}"
            database.add(KEY, Measurement(schedule, float(n)))
            os.write(said, f"{schedule}\n".encode())


def killed(path: Path, number: int, delay: float) -> set[str]:
    """What a writer has said before it was killed: while it opens the file, or writes."""
    read, said = os.pipe()
    if (writer := os.fork()) == 0:
        write(path, number, said)
    os.close(said)
    with open(read) as pipe:
        lines = [pipe.readline() for _ in range(number % 4)]
        time.sleep(delay)
        os.kill(writer, signal.SIGKILL)
        _, status = os.waitpid(writer, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "it has ended by itself"
        return set("".join([*lines, pipe.read()]).split())


def problem(path: Path, said: set[str]) -> str:
    """What is wrong with a database; empty if nothing is, or its first writer had no time."""
    if not path.exists() and not said:
        return ""
    with Database.reading(path) as database:
        kept = {record.measurement.schedule for record in database.measurements(KEY)}
    (sound,) = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        return str(sound)
    return f"lost: {sorted(said - kept)}" if said - kept else ""


def main(folder: str, rounds: int) -> None:
    """All rounds."""
    delays = random.Random(0)
    everything: dict[Path, set[str]] = {}
    problems: list[str] = []
    for number in range(rounds):
        path = Path(folder) / f"{number // ROUNDS_A_FILE}.sqlite"
        said = everything.setdefault(path, set())
        said |= killed(path, number, delays.uniform(0, LONGEST_S))
        problems += filter(None, [problem(path, said)])
    kept = sum(map(len, everything.values()))
    print(json.dumps({"files": len(everything), "kept": kept, "problems": problems}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
