# SPDX-License-Identifier: Apache-2.0
"""What CUDA IR has, its printer prints: no op falls through to the errors for unknown ones."""

from functools import singledispatchmethod
from typing import Any

import pytest
from xdsl.ir import Operation

from tilewright.codegen.expressions import Expressions
from tilewright.codegen.statements import StatementPrinter
from tilewright.dialects.cuda import Cuda
from tilewright.dialects.cuda_expressions import ExpressionOp
from tilewright.dialects.cuda_statements import StatementOp


def is_printed(op: type[Operation], printer: type, method: str) -> bool:
    """Whether `method` of `printer` has a case for `op`."""
    cases: singledispatchmethod[Any] = vars(printer)[method]
    return cases.dispatcher.dispatch(op) is not cases.dispatcher.dispatch(object)


def test_every_expression_is_printed() -> None:
    ops = [op for op in Cuda.operations if issubclass(op, ExpressionOp)]
    assert [op.name for op in ops if not is_printed(op, Expressions, "made_by")] == []


def test_every_statement_is_printed() -> None:
    ops = [op for op in Cuda.operations if issubclass(op, StatementOp)]
    assert [op.name for op in ops if not is_printed(op, StatementPrinter, "statement")] == []


@pytest.mark.parametrize(
    ("printer", "method"), [(Expressions, "made_by"), (StatementPrinter, "statement")]
)
def test_others_are_not(printer: type, method: str) -> None:
    assert not is_printed(Operation, printer, method)
