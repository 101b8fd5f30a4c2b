# SPDX-License-Identifier: Apache-2.0
"""
Comparison of the output of two checkouts, for changes that must not change any output:

    python benchmarks/same_output.py --base ../before

The commands of each checkout run in a process of their own: `compile` (CUDA text), `explain`, and
the first schedules of `tune --seed 0` with the model. They run for suite84, for one decoder layer
of two models, and for three GPUs. Outputs that differ are printed. The exit code is 1 if an output
differs or a command fails, and 2 if a checkout cannot run the commands.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

from other_checkout import environment_of

HERE = Path(__file__).resolve().parents[1]
SUITE = HERE / "benchmarks" / "suite84.json"
TARGETS = ("sm_80", "sm_90a", "sm_120")
MODELS = ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "Qwen/Qwen2.5-7B")
_LAYER = ("--layers", "1", "--seq-len", "128", "--dtype", "float32")
_EXIT_CODE = "exit code "
_SUCCESS = f"{_EXIT_CODE}0\n"
_SHOWN = 20
"""Maximum number of printed lines of a difference."""


def commands(only: str, targets: Sequence[str], schedules: int) -> Iterator[tuple[str, list[str]]]:
    """Yield command lines with names, for programs with `only` in their name."""
    cases = json.loads(SUITE.read_text())["cases"]
    programs = {case["name"]: ["-c", expression(case)] for case in cases}
    programs.update({name: [name, *_LAYER] for name in MODELS})
    search = ["--evaluator", "model", "--programs", "0", "--budget", str(schedules), "--jobs", "1"]
    for name, program in programs.items():
        if only not in name:
            continue
        for target in targets:
            common = [*program, "--target", target, "--no-db"]
            yield f"{name}.{target}.compile", ["compile", *common]
            yield f"{name}.{target}.explain", ["explain", *common]
            yield f"{name}.{target}.tune", ["tune", *common, *search, "--seed", "0", "-v"]


def expression(case: dict[str, Any]) -> str:
    """Return the expression of a case with its inputs written out."""
    special = case.get("inputs", {})
    shapes = {f"t{number}": shape for number, shape in enumerate(case["input_shapes"])}

    def written(match: re.Match[str]) -> str:
        name = match[0]
        size = ", ".join(map(str, shapes[name]))
        if name not in special:
            return f"torch.randn({size})"
        return f"torch.full([{size}], {special[name]['full']}).triu({special[name]['triu']})"

    return re.sub(r"\bt\d\b", written, case["expression"])


def print_outputs(lines: Sequence[tuple[str, list[str]]], folder: Path) -> None:
    """Run command lines in this process, and write the output of each to a file in `folder`."""
    from tilewright.tools.cli import main as tilewright

    for name, argv in lines:
        printed = StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            code = tilewright(argv)
        printed.write(f"{_EXIT_CODE}{code}\n")
        (folder / name.replace("/", "-")).write_text(printed.getvalue())


def differences(before: Path, after: Path) -> dict[str, list[str]]:
    """Return the first lines of the differences between the files of two folders, by file."""
    found: dict[str, list[str]] = {}
    for path in sorted(before.iterdir()):
        old, new = (folder / path.name for folder in (before, after))
        if old.read_bytes() == new.read_bytes():
            continue
        diff = unified_diff(
            old.read_text().splitlines(), new.read_text().splitlines(), n=0, lineterm=""
        )
        found[path.name] = [*diff][:_SHOWN]
    return found


def failures(folder: Path) -> list[str]:
    """Return the names of the outputs in `folder` whose commands failed."""
    return [p.name for p in sorted(folder.iterdir()) if not p.read_text().endswith(_SUCCESS)]


def _run(root: Path, options: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir()
    command = [sys.executable, __file__, *options, "--outputs", str(folder)]
    return subprocess.Popen(command, env=environment_of(root), cwd=root)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the commands of both checkouts in parallel, and compare their outputs."""
    parser = argparse.ArgumentParser(description="Compare what two checkouts print.")
    parser.add_argument("--base", type=Path, metavar="DIR", help="the other checkout")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with TEXT in the name")
    parser.add_argument("--targets", default=",".join(TARGETS), help="GPUs (sm_80,sm_90a,sm_120)")
    parser.add_argument("--schedules", type=int, default=50, help="schedules of each search (50)")
    parser.add_argument("--outputs", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    lines = [*commands(args.only, args.targets.split(","), args.schedules)]
    if args.outputs is not None:
        print_outputs(lines, args.outputs)
        return 0
    if args.base is None:
        parser.error("--base DIR is missing")
    if not lines:
        parser.error(f"no program has {args.only!r} in its name")
    given = ["--only", args.only, "--targets", args.targets, "--schedules", str(args.schedules)]
    with tempfile.TemporaryDirectory() as name:
        before, after = Path(name) / "before", Path(name) / "after"
        runs = [_run(args.base.resolve(), given, before), _run(HERE, given, after)]
        if any([run.wait() for run in runs]):
            return 2
        found, failed = differences(before, after), failures(after)
    for name, diff in found.items():
        print(f"{name} differs:", *diff, sep="\n  ")
    print(*(f"{name} failed" for name in failed), sep="\n", end="\n" if failed else "")
    print(f"{len(lines)} outputs compared, {len(found)} differ, {len(failed)} failed")
    return int(bool(found or failed))


if __name__ == "__main__":
    sys.exit(main())
