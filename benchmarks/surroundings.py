#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Commands in unusual environments: environment variables, closed and full streams, links, pipes, file
permissions, concurrent processes, and signals at random times. Each command is a process.

    benchmarks/surroundings.py --seed 1 --count 30

No command may print a traceback, hang, or leave a partly written output. If one does, it is printed
with the reason, and the exit code is 1.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

LIMIT_S = 300
"""Time limit in seconds for the commands of one case, on a busy machine."""

OLD = "what was there before\n"

MLIR = """\
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = prim.elementwise exp(%x) : tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
"""

EXPRESSION = "torch.ones(3).exp()"

COMMANDS = {
    "compile": ["tilewright", "compile", "-c", EXPRESSION, "-o", "OUT"],
    "run": ["tilewright", "run", "-c", EXPRESSION, "--json", "OUT"],
    "explain": ["tilewright", "explain", "-c", EXPRESSION, "--json", "OUT"],
    "tune": [
        *("tilewright", "tune", "-c", EXPRESSION, "--evaluator", "model", "--budget", "9"),
        *("--programs", "0", "--db", "x.sqlite", "--json", "OUT"),
    ],
    "opt-tool": ["opt-tool", "good.mlir", "-p", "to-loop,to-tile,to-kernel,to-cuda", "-o", "OUT"],
    "doctor": ["tilewright", "doctor"],
    "ops": ["tilewright", "ops", "softmax"],
}
"""Command lines by name, in which OUT stands for an output file."""

ENVIRONMENTS: tuple[dict[str, str | None], ...] = (
    {},
    *({"HOME": None}, {"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "relative"}),
    *({"XDG_CACHE_HOME": "good.mlir", "XDG_DATA_HOME": "good.mlir"}, {"XDG_CACHE_HOME": "loop"}),
    *({"TMPDIR": "/nonexistent"}, {"PATH": ""}, {"TERM": "dumb"}, {"NO_COLOR": "1"}),
    *({"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "xx_YY"}),
    *({"COLUMNS": "1"}, {"COLUMNS": "0"}, {"COLUMNS": "x"}, {"PYTHONOPTIMIZE": "2"}),
    *({"PYTHONWARNINGS": "error"}, {"CUDA_VISIBLE_DEVICES": "junk"}, {"PYTHONHASHSEED": "7"}),
)

STREAMS = (
    "",
    *("", "", "", ">&-", "2>&-", "<&-", ">&- 2>&- <&-", ">/dev/full", "2>/dev/full", "</dev/null"),
    *("| true", "| head -c 5", "2>&1 | head -c 5"),
)

OUTPUTS = {
    "": "out.txt",
    "it is there": "out.txt",
    "it has no rights": "out.txt",
    "it is a link": "link",
    "it is a loop of links": "loop",
    "it is a link to nothing": "dangling",
    "it is a folder": "folder",
    "there is no folder": "none/out.txt",
    "it has a strange name": "a \n\u2028ü'.txt",
    "it is full": "/dev/full",
    "it is stdout": "/dev/stdout",
}

SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)


def surrounding(draw: random.Random, folder: Path) -> tuple[str, list[str], dict[str, str]]:
    """Fill a folder, and return a random shell command with its description and environment."""
    (folder / "good.mlir").write_text(MLIR)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nothing")
    (folder / "link").symlink_to("out.txt")
    name, output = draw.choice([*COMMANDS]), draw.choice([*OUTPUTS])
    if output != "":
        (folder / "out.txt").write_text(OLD)
    if output == "it has no rights":
        (folder / "out.txt").chmod(0o400)
    changes, stream = draw.choice(ENVIRONMENTS), draw.choice(STREAMS)
    words = [OUTPUTS[output] if word == "OUT" else word for word in COMMANDS[name]]
    environment = {**os.environ, "XDG_DATA_HOME": ".", **{k: v for k, v in changes.items() if v}}
    for gone in (key for key, value in changes.items() if value is None):
        environment.pop(gone, None)
    label = f"{name}, output {output or 'new'}, {changes or 'usual environment'}, {stream}"
    programs = Path(sys.executable).parent
    return label, [str(programs / words[0]), *words[1:], stream], environment


def attempt(draw: random.Random) -> tuple[str, str]:
    """
    Run one command in a random environment; return its description, and what is wrong: empty if
    nothing is.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        label, (*words, stream), environment = surrounding(draw, folder)
        count = draw.choice([1, 1, 1, 1, 3])
        sent = draw.choice(SIGNALS) if not stream and draw.random() < 0.4 else None
        delay = draw.choice([draw.uniform(0.02, 1), draw.uniform(1, 12)])
        command = f'"$@" {stream}'
        processes = [
            subprocess.Popen(
                [shutil.which("bash") or "bash", "-c", command, "bash", *words],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            for _ in range(count)
        ]
        ends = [_ended(process, sent, delay) for process in processes]
        label = f"{count} x {label}" + (f", {sent.name} after {delay:.2f} s" if sent else "")
        return label, next((wrong for wrong in (*ends, _file_problem(folder)) if wrong), "")


def _ended(process: subprocess.Popen[bytes], sent: signal.Signals | None, delay: float) -> str:
    """
    Wait for a process, after sending it the signal, if any; return what is wrong with its end.
    """
    try:
        out, err = process.communicate(timeout=delay if sent else LIMIT_S)
        sent = None
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, sent or signal.SIGKILL)
        out, err = process.communicate(timeout=LIMIT_S)
        if sent is None:
            return f"takes more than {LIMIT_S} s"
    text = (out + err).decode(errors="replace")
    if "Traceback" in text or "internal error" in text or "Exception ignored" in text:
        return text.strip()[-2000:]
    if sent is None and process.returncode not in (0, 1, 2, 127):
        return f"the exit code is {process.returncode}"
    return ""


def _file_problem(folder: Path) -> str:
    """Return what is wrong with the files in the folder after the command."""
    out = folder / "out.txt"
    text = out.read_text() if out.exists() else OLD
    whole = text == OLD or text.rstrip().endswith(("}", "\n}"))
    if not whole:
        return f"out.txt is half written: {text[-80:]!r}"
    if (folder / "folder").exists() and any((folder / "folder").iterdir()):
        return "something is in the folder"
    return ""


def run(seed: int, count: int, *, shows: bool = False) -> list[str]:
    """Try `count` random environments; return the failures."""
    draw = random.Random(seed)
    wrong: list[str] = []
    for number in range(count):
        label, problem = attempt(draw)
        if shows:
            print(f"{seed}/{number}: {label}: {problem[-200:] or 'fine'}", flush=True)
        if problem:
            wrong.append(f"{seed}/{number}: {label}\n  {problem}")
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Try random environments, and print the failures."""
    parser = argparse.ArgumentParser(description="Run commands in odd surroundings.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("-v", dest="shows", action="store_true", help="print each")
    args = parser.parse_args(argv)
    wrong = run(args.seed, args.count, shows=args.shows)
    print("\n".join(wrong))
    print(f"seed {args.seed}, {args.count} surroundings; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
