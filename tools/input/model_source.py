# SPDX-License-Identifier: Apache-2.0
"""
Where a command's program comes from: `-c EXPR`, `model.pt2`, `file.py:NAME`, a language model, or a
file of IR.

All but the last are understood by the frontend, which is imported only for them.
"""

import argparse
import re
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.errors import UsageError
from tilewright.tools.input.language_model import is_model, language_model
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.output.progress import Say, silent
from tilewright.uncollected import uncollected


def is_ir(args: argparse.Namespace) -> bool:
    """Whether the program is a file of IR, rather than something that PyTorch runs."""
    if is_model(args) or args.expression is not None:
        return False
    return not re.search(r"\.pt2$|\.py(:[\w.]+)?$", args.file)


def captured(args: argparse.Namespace, fake: bool, seed: int = 0, say: Say = silent) -> Any:
    """
    The capture of an expression or a model: a `tilewright.frontend.capture.Captured`.

    With `fake` the tensors of an expression get no values. `say` is told the stages of a model.
    """
    capture = import_module("tilewright.frontend.capture").capture
    model = model_of(args, fake, seed, say)
    say("capture")
    return capture(model.module, model.args, model.kwargs)


def model_of(args: argparse.Namespace, fake: bool, seed: int = 0, say: Say = silent) -> Any:
    """
    What is captured, with its arguments: a `tilewright.frontend.expression.Expression`.

    With `fake` the tensors of an expression get no values.
    """
    if is_model(args):
        return _language_model(args, fake, say)
    if args.expression is None:
        return import_module("tilewright.frontend.model_file").load_model(args.file, seed)
    parse = import_module("tilewright.frontend.expression").parse_expression
    with uncollected():  # it imports PyTorch
        return parse(args.expression, fake=fake, seed=seed)


def _language_model(args: argparse.Namespace, fake: bool, say: Say) -> Any:
    if not fake:
        remedy = "compile and explain need no values"
        raise UsageError(f"'{args.file}' is taken without its weights here", remedy=remedy)
    return language_model(args, say).program


def module_of(args: argparse.Namespace, say: Say = silent) -> ModuleOp:
    """The program's IR, as it is written or captured."""
    return read_module(args.file) if is_ir(args) else captured(args, fake=True, say=say).module
