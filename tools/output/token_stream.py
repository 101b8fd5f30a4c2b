# SPDX-License-Identifier: Apache-2.0
"""Tokens as they come: their text on stdout, and on stderr what they took."""

import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from tilewright.codegen.plan_text import launches_text
from tilewright.models.generation import Generator
from tilewright.models.key_values import bytes_of
from tilewright.tools.model_runs import Compiler


class Clock:
    """Tokens, counted and timed."""

    def __init__(self, tokens: Iterable[int]):
        self._tokens = tokens
        self.count = 0
        self.seconds = 0.0
        """From the first that is asked for to the end."""

    def __iter__(self) -> Iterator[int]:
        start = time.perf_counter()
        for token in self._tokens:
            self.count += 1
            yield token
        self.seconds = time.perf_counter() - start


def print_tokens(tokens: Iterable[int], tokenizer: Any | None) -> None:
    """Their text, whole words at a time; without a tokenizer their numbers."""
    if tokenizer is None:
        for token in tokens:
            print(token, end=" ", flush=True)
        print()
        return
    import torch

    streamer: Any = import_module("transformers").TextStreamer(tokenizer, skip_special_tokens=True)
    for token in tokens:
        streamer.put(torch.tensor([token]))
    streamer.end()


def print_summary(generator: Generator, clock: Clock) -> None:
    """What the tokens took, and what ran."""
    running = clock.seconds - generator.compiling
    lines = [
        f"{clock.count} tokens in {running:.3g} s, {running / clock.count:.3g} s each; "
        f"compiled in {generator.compiling:.3g} s",
        f"keys and values: {bytes_of(generator.rows)} B",
        *_programs(generator),
    ]
    print(*lines, sep="\n", file=sys.stderr)


def _programs(generator: Generator) -> Iterator[str]:
    compiler = generator.compile
    if not isinstance(compiler, Compiler):
        yield from generator.programs
        return
    for name, program in zip(generator.programs, compiler.programs, strict=True):
        yield f"{name}: {launches_text(program.kernels)}"
