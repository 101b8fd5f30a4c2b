# SPDX-License-Identifier: Apache-2.0
"""
Obligations of all kernels of TinyLlama and Qwen2.5-7B: how many are proved, and how long this
takes.

    python benchmarks/model_proofs.py --json benchmarks/results/model-proofs.json
    python benchmarks/model_proofs.py --only tinyllama --layers 1

A model is three programs: a whole sequence of 128 tokens, the prefill of a prompt, and a decode
step. Each kernel is proved at Tile IR with its values, at Kernel IR, and in the index arithmetic of
its CUDA IR, as by `tilewright prove MODEL --same --kernel --indices`. Neither weights nor a network
are needed. Milliseconds are CPU time of a kernel's answers.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import process_time

from measure import environment, figures_table, write_json
from proofs import certificate_json, sums_of
from rich.console import Console
from rich.table import Table

from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.frontend.capture import Captured, capture
from tilewright.models.config import BUNDLED, find_model
from tilewright.models.decode_step import capture_decode_step
from tilewright.models.prefill import capture_prefill
from tilewright.models.structure import build
from tilewright.models.whole import whole_sequence
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate
from tilewright.tools.output.proofs import certificates

TOKENS, ROWS = 128, 256
"""Number of tokens of a sequence, and of rows of the cache."""


@dataclass(frozen=True)
class Proved:
    """Certificate of one kernel of a program, and its time."""

    program: str
    certificate: Certificate
    ms: float


def programs(model: str, layers: int | None) -> Iterator[tuple[str, Captured]]:
    """Yield the captured programs of a model, each with a name."""
    structure = build(find_model(model).config, layers=layers)
    short = model.rpartition("/")[2]
    whole = whole_sequence(structure, TOKENS)
    yield f"{short} sequence", capture(whole.module, whole.args, whole.kwargs)
    yield f"{short} prefill", capture_prefill(structure, TOKENS, ROWS)
    yield f"{short} decode", capture_decode_step(structure, ROWS)


def proved(name: str, captured: Captured, target: str) -> Iterator[Proved]:
    """Yield the certificates of all kernels of a program."""
    nests = lower(captured.module, Level.LOOP, target=target)
    tiles = lower(nests, Level.TILE, target=target)
    threads = lower(tiles, Level.KERNEL, target=target)
    cuda = lower(threads, Level.CUDA, target=target)
    begun = list[float]()

    def begin(_: str) -> None:
        begun.append(process_time())

    found = certificates(tiles, nests, cuda, begin, threads)
    for certificate, (start, end) in zip(found, pairwise([*begun, process_time()]), strict=True):
        yield Proved(name, certificate, 1e3 * (end - start))


def table_of(found: Sequence[Proved]) -> Table:
    """Return a table with a line for each program."""
    columns = ("kernels", "obligations", *Outcome, "median ms", "most ms")
    shown = figures_table("proofs of whole models", "program", columns)
    for program in dict.fromkeys(each.program for each in found):
        sums = sums_of_program([each for each in found if each.program == program])
        shown.add_row(program, *(str(sums[column]) for column in columns))
    return shown


def sums_of_program(found: Sequence[Proved]) -> dict[str, float]:
    """Return the sums over some kernels, by what is counted."""
    return sums_of([each.certificate for each in found], [each.ms for each in found])


def main(argv: Sequence[str] | None = None) -> None:
    """Prove the kernels, print the sums, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Prove the kernels of whole models.")
    parser.add_argument("--only", default="", metavar="TEXT", help="models with TEXT in the name")
    parser.add_argument("--layers", type=int, metavar="N", help="only the first N layers")
    parser.add_argument("--target", default=DEFAULT_TARGET, metavar="ARCH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts to FILE")
    args = parser.parse_args(argv)
    found = [
        each
        for model in BUNDLED
        if args.only in model.lower()
        for name, captured in programs(model, args.layers)
        for each in proved(name, captured, args.target)
    ]
    Console(width=120).print(table_of(found))
    if args.json is not None:
        kernels = [certificate_json(each.program, each.certificate, each.ms) for each in found]
        settings = {"target": args.target, "tokens": TOKENS, "rows": ROWS}
        content = {"environment": environment(), **settings, "sums": sums_of_program(found)}
        write_json(args.json, {**content, "kernels": kernels})


if __name__ == "__main__":
    main()
