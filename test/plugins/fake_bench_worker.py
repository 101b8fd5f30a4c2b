# SPDX-License-Identifier: Apache-2.0
"""
Process that answers as a benchmark worker does, without measuring.

`fake_bench_worker.py ANSWERS LOG`: ANSWERS is JSON, with a row for each case, or the name of a
mishap. Each start and each request is a line of LOG.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ANSWERS: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())


def say(reply: dict[str, Any]) -> None:
    """Print a reply, and flush it."""
    print(json.dumps(reply), flush=True)


def log(line: str) -> None:
    """Write a line to the log that the test reads."""
    with Path(sys.argv[2]).open("a") as file:
        file.write(f"{line}\n")


def answer(name: str, left_out: dict[str, str]) -> None:
    """Answer the request for a case, or have the mishap that the test requests for it."""
    match ANSWERS[name]:
        case "hang":
            say({"phase": "ours: running"})
            time.sleep(600)
        case "hang in compile" if "compile" not in left_out:
            say({"phase": "eager: running"})
            say({"phase": "compile: compiling"})
            time.sleep(600)
        case "die":
            say({"phase": "timing"})
            print("Segmentation fault", file=sys.stderr)
            os._exit(3)
        case "lose":
            say({"phase": "ours: running"})
            say({"row": {"problem": "failed: ours: illegal address"}, "lost": True})
            sys.exit()
        case str():
            say({"row": {**ANSWERS["row"], "name": name, "left_out": left_out}})
        case row:
            say({"row": row})


def main() -> None:
    """Answer requests until there are no more."""
    if "start" in ANSWERS:
        sys.exit(ANSWERS["start"])
    log("start")
    say({"environment": ANSWERS["environment"]})
    for line in sys.stdin:
        request = json.loads(line)
        case = request.get("case") or request["block"]
        log(case["name"])
        answer(case["name"], request["left_out"])


if __name__ == "__main__":
    main()
