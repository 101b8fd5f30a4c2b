# SPDX-License-Identifier: Apache-2.0
"""Cases for decoder blocks of a model, one for each number of tokens."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.expression import Expression
from tilewright.models.structure import check_length
from tilewright.tools.options.bench import SHORT

TOKENS = (32, 128, 512)
DTYPE, ATTENTION = "float32", "sdpa"
"""Defaults of the options `--dtype` and `--attention`, as in suite84."""


@dataclass(frozen=True)
class BlockCase:
    """Case of one decoder layer of a model, with a batch of one sequence."""

    name: str
    """
    Name, as `block.qwen2.5-7b.s128`; dtype and attention precede the tokens if they are not the
    defaults.
    """
    model: str
    """Name of the model, as `find_model` takes it."""
    tokens: int
    dtype: str
    attention: str
    width: int
    """Size of the hidden states."""
    digest: str
    """Digest of the model's config."""

    @property
    def op(self) -> str:
        """Name of the group in which summaries count the case: always `block`."""
        return "block"

    @property
    def expression(self) -> str:
        """Description of the layer, which identifies the results in a file."""
        config = f"config {self.digest}"
        return f"a decoder layer of {self.model}: {self.dtype}, {self.attention}, {config}"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the hidden states."""
        return ((1, self.tokens, self.width),)

    def program(self, fake: bool) -> Expression:
        """
        Return the layer and its arguments; its parameters are random numbers, or fake tensors if
        `fake`.
        """
        from tilewright.models.block import decoder_block

        seed = None if fake else 0
        config = _config(self.model)
        return decoder_block(
            config, self.tokens, dtype=self.dtype, attention=self.attention, seed=seed
        )


def check_source(args: argparse.Namespace) -> None:
    """Raise `UsageError` unless the arguments name a suite, or decoder blocks of a model."""
    of_blocks = [name for name in ("seq", "dtype", "attention") if getattr(args, name) is not None]
    if args.suite is not None and args.model is not None:
        raise UsageError("SUITE and --model exclude each other")
    if args.model is not None and not args.block:
        raise UsageError("a model is measured by its decoder block", remedy="add --block")
    if args.model is None and args.block:
        raise UsageError(
            "--block goes with --model", remedy=f"--model {' or '.join(SHORT)}, a folder, or a name"
        )
    if args.suite is not None and of_blocks:
        raise UsageError(f"--{of_blocks[0]} goes with --model MODEL --block")
    if args.suite is None and args.model is None:
        raise UsageError("SUITE, or --model MODEL --block, is required")


def block_cases(args: argparse.Namespace) -> Iterator[BlockCase]:
    """
    Yield the cases that `--model`, `--seq`, `--dtype` and `--attention` select. Raises `UsageError`
    as `find_model` and `check_length` do.
    """
    asked: str = args.model
    model, config = SHORT.get(asked, asked), _found(asked)
    label = asked if asked in SHORT else Path(asked).resolve().name.lower()
    dtype, attention = args.dtype or DTYPE, args.attention or ATTENTION
    others = [part for part in (dtype, attention) if part not in (DTYPE, ATTENTION)]
    name = ".".join(("block", label, *others))
    digest = sha256(config.to_json_string().encode()).hexdigest()[:8]
    for tokens in args.seq or TOKENS:
        check_length(config, tokens)
        width = config.hidden_size
        yield BlockCase(f"{name}.s{tokens}", model, tokens, dtype, attention, width, digest)


def _found(name: str) -> Any:
    """
    Return the config of the model that `--model` names. Raises `UsageError` if it is not found.
    """
    try:
        return _config(SHORT.get(name, name))
    except UsageError as err:
        remedies = filter(None, (err.remedy, f"--model also takes {' and '.join(SHORT)}"))
        raise UsageError(err.message, where=err.where, remedy="; ".join(remedies)) from None


@cache
def _config(model: str) -> Any:
    """Return what `find_model` finds for a model; the result is cached."""
    from tilewright.models.config import find_model

    return find_model(model).config
