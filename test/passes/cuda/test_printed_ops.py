# SPDX-License-Identifier: Apache-2.0
"""The printer of CUDA IR prints all ops: its tables name all statements and expressions."""

from tilewright.codegen.expressions import EXPRESSIONS
from tilewright.codegen.statements import STATEMENTS
from tilewright.dialects.cuda import Cuda
from tilewright.dialects.cuda.expressions import ExpressionOp
from tilewright.dialects.cuda.statements import StatementOp


def test_every_expression_is_printed() -> None:
    ops = {op for op in Cuda.operations if issubclass(op, ExpressionOp)}
    assert ops == EXPRESSIONS.keys()


def test_every_statement_is_printed() -> None:
    ops = {op for op in Cuda.operations if issubclass(op, StatementOp)}
    assert ops == STATEMENTS.keys()
