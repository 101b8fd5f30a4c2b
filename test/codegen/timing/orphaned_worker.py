# SPDX-License-Identifier: Apache-2.0
"""
Worker that starts a process and hangs, and its starter, which hangs as well.

    python orphaned_worker.py FIFO           starts a worker
    python orphaned_worker.py FIFO worker    is one; it and what it starts keep FIFO open
"""

import subprocess
import sys
import time

from tilewright.codegen.timing.isolated import Worker, requests

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def hang(fifo: str) -> None:
    """Take a request, and never return."""
    with open(fifo, "w") as stream:
        subprocess.Popen(SLEEP, stdout=stream)
        next(requests())
        print("hanging", file=stream, flush=True)
        time.sleep(600)


def start(fifo: str) -> None:
    """Start a worker that hangs, and wait for it."""
    worker = Worker([sys.executable, __file__, fifo, "worker"])
    worker.send({})
    worker.reply(600)


(hang if sys.argv[2:] else start)(sys.argv[1])
