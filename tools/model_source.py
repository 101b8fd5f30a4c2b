# SPDX-License-Identifier: Apache-2.0
"""
Where a command's program comes from: `-c EXPR`, `model.pt2`, `file.py:NAME`, or a file of IR.

Models are understood by the frontend, which is imported only for them.
"""

import argparse
import re
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.tools.mlir_source import read_module


def is_ir(args: argparse.Namespace) -> bool:
    """Whether the program is a file of IR, rather than something that PyTorch runs."""
    return args.expression is None and not re.search(r"\.pt2$|\.py(:[\w.]+)?$", args.file)


def captured(args: argparse.Namespace, fake: bool, seed: int = 0) -> Any:
    """
    The capture of an expression or a model: a `tilewright.frontend.capture.Captured`.

    With `fake` the tensors of an expression get no values.
    """
    capture = import_module("tilewright.frontend.capture").capture
    model = model_of(args, fake, seed)
    return capture(model.module, model.args, model.kwargs)


def model_of(args: argparse.Namespace, fake: bool, seed: int = 0) -> Any:
    """
    What is captured, with its arguments: a `tilewright.frontend.expression.Expression`.

    With `fake` the tensors of an expression get no values.
    """
    if args.expression is None:
        return import_module("tilewright.frontend.model_file").load_model(args.file, seed)
    parse = import_module("tilewright.frontend.expression").parse_expression
    return parse(args.expression, fake=fake, seed=seed)


def module_of(args: argparse.Namespace) -> ModuleOp:
    """The program's IR, as it is written or captured."""
    return read_module(args.file) if is_ir(args) else captured(args, fake=True).module
