# SPDX-License-Identifier: Apache-2.0
"""
Source of a command's program: `-c EXPR`, `model.pt2`, `file.py:NAME`, a language model (a folder
with a `config.json`, or `ORGANISATION/MODEL`), or a file of IR.

A command creates one `Source` from its arguments. PyTorch, the frontend and `transformers` are
imported only when a program is loaded, and only for sources that need them.
"""

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.precision import Precisions
from tilewright.errors import UsageError
from tilewright.models.config import FoundModel, find_model
from tilewright.passes.driver.levels import Level, level_of
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.named_files import names_model, names_pytorch
from tilewright.tools.options.model import OPTIONS
from tilewright.tools.options.precision import precision_argv
from tilewright.tools.output.progress import ReportStage, ignore_stage
from tilewright.uncollected import uncollected

_DEFAULT_LENGTH = 128
"""Default number of tokens of a sequence, unless the model's maximum is smaller."""


@dataclass(frozen=True)
class Source(ABC):
    """Program named on a command line."""

    text: str
    """Value of the argument EXPR, FILE or MODEL."""
    precision: str | None = field(default=None, kw_only=True)
    """Precision of float32 products that the command line requests; None for the default."""

    @property
    def words(self) -> list[str]:
        """Arguments that name the program and its precision on a command line."""
        return [*precision_argv(self.precision), self.text]

    @abstractmethod
    def module(self, report_stage: ReportStage = ignore_stage) -> ModuleOp:
        """Return the program's IR, at the level at which it is written or captured."""


class IrSource(Source):
    """Program in a file of IR, or in stdin if the name is `-`."""

    def module(self, report_stage: ReportStage = ignore_stage) -> ModuleOp:
        """
        Return the IR in the file. Raises `UsageError` if a precision is requested for IR below the
        Torch level.
        """
        module = read_module(self.text)
        if self.precision is not None:
            _check_level(module, self.text)
            set_precision(module, self.precision)
        return module


class TorchSource(Source):
    """Program that PyTorch can run, and that is captured."""

    @abstractmethod
    def load(self, *, fake: bool, seed: int = 0, report_stage: ReportStage = ignore_stage) -> Any:
        """
        Return the program and its arguments as a `tilewright.frontend.expression.Expression`.

        With `fake` the tensors of an expression have no values. `report_stage` receives the stages
        of loading a model.
        """

    def captured(
        self, *, fake: bool, seed: int = 0, report_stage: ReportStage = ignore_stage
    ) -> Any:
        """
        Return the capture of the program that `load` returns, a
        `tilewright.frontend.capture.Captured`.
        """
        loaded = self.load(fake=fake, seed=seed, report_stage=report_stage)
        report_stage("capture")
        return self.capture(loaded)

    def capture(self, program: Any) -> Any:
        """
        Return the capture of a `tilewright.frontend.expression.Expression`, in the precision that
        the command line requests.
        """
        capture = import_module("tilewright.frontend.capture").capture
        captured = capture(program.module, program.args, program.kwargs)
        set_precision(captured.module, self.precision)
        return captured

    def module(self, report_stage: ReportStage = ignore_stage) -> ModuleOp:
        """Return the captured Torch IR."""
        return self.captured(fake=True, report_stage=report_stage).module


class ExpressionSource(TorchSource):
    """PyTorch expression, given with `-c`."""

    @property
    def words(self) -> list[str]:
        """Arguments that name the program and its precision on a command line."""
        return [*precision_argv(self.precision), "-c", self.text]

    def load(self, *, fake: bool, seed: int = 0, report_stage: ReportStage = ignore_stage) -> Any:
        """Return the parsed expression and its inputs."""
        parse = import_module("tilewright.frontend.expression").parse_expression
        with uncollected():  # the import of PyTorch is faster without garbage collection
            return parse(self.text, fake=fake, seed=seed)


class FileSource(TorchSource):
    """Saved program `model.pt2`, or object `file.py:NAME`."""

    def load(self, *, fake: bool, seed: int = 0, report_stage: ReportStage = ignore_stage) -> Any:
        """Return the program and its example inputs, which have values."""
        return import_module("tilewright.frontend.model_file").load_model(self.text, seed)


@dataclass(frozen=True)
class ModelSource(TorchSource):
    """Language model, with the variant that the options request; None means the default."""

    seq_len: int | None
    layers: int | None
    dtype: str | None
    attention: str | None

    def load(self, *, fake: bool, seed: int = 0, report_stage: ReportStage = ignore_stage) -> Any:
        """
        Return the model on a whole sequence, without weights; raises `UsageError` unless `fake`.
        """
        if not fake:
            remedy = "compile and explain need no values"
            raise UsageError(f"the weights of '{self.text}' are not loaded here", remedy=remedy)
        return self.language_model(report_stage).program

    def language_model(self, report_stage: ReportStage = ignore_stage) -> "LanguageModel":
        """Return the model's modules, with fake tensors."""
        report_stage("config")
        found = find_model(self.text)
        report_stage("structure")
        attention = self.attention or "sdpa"
        structure = import_module("tilewright.models.structure").build(
            found.config, dtype=self.dtype, attention=attention, layers=self.layers
        )
        most = found.config.max_position_embeddings
        length = self.seq_len or min(_DEFAULT_LENGTH, most)
        return LanguageModel(found, structure, attention, length)


@dataclass(frozen=True)
class LanguageModel:
    """Language model in the variant that the command line requests."""

    found: FoundModel
    structure: Any
    """Modules of the model, with fake tensors."""
    attention: str
    length: int
    """Number of tokens of the sequence."""

    @property
    def program(self) -> Any:
        """Model on a whole sequence: a `tilewright.frontend.expression.Expression`."""
        whole_sequence = import_module("tilewright.models.whole").whole_sequence
        return whole_sequence(self.structure, self.length)


def source_of(args: argparse.Namespace) -> Source:
    """
    Return the source that a command's arguments name.

    Raises `UsageError` if an option of language models is given for another source.
    """
    file: str | None = args.file
    precision: str | None = args.matmul_precision
    if file is not None and names_model(file):
        variant = args.seq_len, args.layers, args.dtype, args.attention
        return ModelSource(file, *variant, precision=precision)
    _check_no_model_options(args)
    if file is None:
        return ExpressionSource(args.expression, precision=precision)
    kind = FileSource if names_pytorch(file) else IrSource
    return kind(file, precision=precision)


def set_precision(module: ModuleOp, precision: str | None) -> None:
    """
    Set the precision of the float32 products of a module at Torch IR; None leaves it unchanged.
    """
    if precision is not None:
        of_ops = import_module("tilewright.dialects.torch.precision")
        of_ops.set_precisions(module, Precisions.of_word(precision))


def _check_level(module: ModuleOp, text: str) -> None:
    if (level := level_of(module)) is not Level.TORCH:
        raise UsageError(
            f"--matmul-precision is for Torch IR, and '{text}' is at the level {level}",
            remedy="its products have their precision already",
        )


def _check_no_model_options(args: argparse.Namespace) -> None:
    for option, spelled in OPTIONS.items():
        if getattr(args, option, None) is not None:
            remedy = "a folder with a config.json, or ORGANISATION/MODEL of Hugging Face"
            raise UsageError(f"{spelled} goes with a MODEL only", remedy=remedy)
