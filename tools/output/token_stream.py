# SPDX-License-Identifier: Apache-2.0
"""
Output of `generate`: the tokens' text on stdout as they are generated, and a summary on stderr.
"""

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
    """Iterator over tokens that counts and times them."""

    def __init__(self, tokens: Iterable[int]):
        self._tokens = tokens
        self.count = 0
        self.seconds = 0.0
        """Seconds from the first request of a token to the end of the tokens."""

    def __iter__(self) -> Iterator[int]:
        start = time.perf_counter()
        for token in self._tokens:
            self.count += 1
            yield token
        self.seconds = time.perf_counter() - start


def print_tokens(tokens: Iterable[int], tokenizer: Any | None) -> None:
    """Print the text of the tokens, in whole words, or their numbers if there is no tokenizer."""
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
    """Print the number of tokens, the times, and the programs that ran."""
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
