# SPDX-License-Identifier: Apache-2.0
"""
Source of a command's program: `-c EXPR`, `model.pt2`, `file.py:NAME`, a language model (a folder
with a `config.json`, or `ORGANISATION/MODEL`), or a file of IR.

A command makes one `Source` of its arguments. PyTorch, the frontend and `transformers` are imported
when a program is loaded, and only for sources that need them.
"""

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.errors import UsageError
from tilewright.models.config import FoundModel, find_model
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.named_files import names_model, names_pytorch
from tilewright.tools.options.model import OPTIONS
from tilewright.tools.output.progress import Say, silent
from tilewright.uncollected import uncollected

_DEFAULT_LENGTH = 128
"""Tokens of a sequence, unless the model takes fewer."""


@dataclass(frozen=True)
class Source(ABC):
    """A program, as a command line names it."""

    text: str
    """The EXPR, FILE or MODEL."""

    @property
    def words(self) -> list[str]:
        """Arguments that name the program on a command line."""
        return [self.text]

    @abstractmethod
    def module(self, say: Say = silent) -> ModuleOp:
        """Return the program's IR, as it is written or captured."""


class IrSource(Source):
    """A file of IR, or the standard input for `-`."""

    def module(self, say: Say = silent) -> ModuleOp:
        """Return the IR that the file holds."""
        return read_module(self.text)


class TorchSource(Source):
    """A program that PyTorch can run, which is captured."""

    @abstractmethod
    def load(self, *, fake: bool, seed: int = 0, say: Say = silent) -> Any:
        """
        Return what is captured, with its arguments: a `tilewright.frontend.expression.Expression`.

        With `fake` the tensors of an expression get no values. `say` gets the stages of a model.
        """

    def captured(self, *, fake: bool, seed: int = 0, say: Say = silent) -> Any:
        """Return the `tilewright.frontend.capture.Captured` of what `load` returns."""
        capture = import_module("tilewright.frontend.capture").capture
        loaded = self.load(fake=fake, seed=seed, say=say)
        say("capture")
        return capture(loaded.module, loaded.args, loaded.kwargs)

    def module(self, say: Say = silent) -> ModuleOp:
        """Return the captured Torch IR."""
        return self.captured(fake=True, say=say).module


class ExpressionSource(TorchSource):
    """A PyTorch expression, after `-c`."""

    @property
    def words(self) -> list[str]:
        """Arguments that name the program on a command line."""
        return ["-c", self.text]

    def load(self, *, fake: bool, seed: int = 0, say: Say = silent) -> Any:
        """Return the parsed expression, with its inputs."""
        parse = import_module("tilewright.frontend.expression").parse_expression
        with uncollected():  # it imports PyTorch
            return parse(self.text, fake=fake, seed=seed)


class FileSource(TorchSource):
    """A saved program `model.pt2`, or `file.py:NAME`."""

    def load(self, *, fake: bool, seed: int = 0, say: Say = silent) -> Any:
        """Return the program, with its example inputs, which have values."""
        return import_module("tilewright.frontend.model_file").load_model(self.text, seed)


@dataclass(frozen=True)
class ModelSource(TorchSource):
    """A language model, and the variant of it that the options ask for; None is the default."""

    seq_len: int | None
    layers: int | None
    dtype: str | None
    attention: str | None

    def load(self, *, fake: bool, seed: int = 0, say: Say = silent) -> Any:
        """Return the model on a whole sequence; `UsageError` unless `fake`: it has no weights."""
        if not fake:
            remedy = "compile and explain need no values"
            raise UsageError(f"'{self.text}' is taken without its weights here", remedy=remedy)
        return self.language_model(say).program

    def language_model(self, say: Say = silent) -> "LanguageModel":
        """Return the model's modules, of fake tensors."""
        say("config")
        found = find_model(self.text)
        say("structure")
        attention = self.attention or "sdpa"
        structure = import_module("tilewright.models.structure").build(
            found.config, dtype=self.dtype, attention=attention, layers=self.layers
        )
        most = found.config.max_position_embeddings
        length = self.seq_len or min(_DEFAULT_LENGTH, most)
        return LanguageModel(found, structure, attention, length)


@dataclass(frozen=True)
class LanguageModel:
    """A language model as the command line asks for it."""

    found: FoundModel
    structure: Any
    """Its modules, of fake tensors."""
    attention: str
    length: int
    """Tokens of the sequence."""

    @property
    def program(self) -> Any:
        """The model on a whole sequence: a `tilewright.frontend.expression.Expression`."""
        whole_sequence = import_module("tilewright.models.whole").whole_sequence
        return whole_sequence(self.structure, self.length)


def source_of(args: argparse.Namespace) -> Source:
    """
    Return the source that a command's arguments name.

    Raises `UsageError` if it is no language model, but an option of models is given.
    """
    file: str | None = args.file
    if file is not None and names_model(file):
        return ModelSource(file, args.seq_len, args.layers, args.dtype, args.attention)
    _check_no_model_options(args)
    if file is None:
        return ExpressionSource(args.expression)
    return FileSource(file) if names_pytorch(file) else IrSource(file)


def _check_no_model_options(args: argparse.Namespace) -> None:
    for option, spelled in OPTIONS.items():
        if getattr(args, option, None) is not None:
            remedy = "a folder with a config.json, or ORGANISATION/MODEL of Hugging Face"
            raise UsageError(f"{spelled} goes with a MODEL only", remedy=remedy)
