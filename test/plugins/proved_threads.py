# SPDX-License-Identifier: Apache-2.0
"""Kernels of Kernel IR as text, and their certificates; the text may be wrong on purpose."""

from xdsl.parser import Parser

from tilewright.dialects.kernel import FuncOp
from tilewright.passes.driver.lowering import context
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate, prove_function


def function(text: str) -> FuncOp:
    """Return the first kernel of a text, which is not verified."""
    module = Parser(context(), text).parse_module()
    return next(op for op in module.ops if isinstance(op, FuncOp))


def proof_of(text: str) -> Certificate:
    """Return the certificate of the first kernel of a text."""
    return prove_function(function(text))


def faults(text: str) -> list[tuple[str, str, Outcome, str]]:
    """Return kind, subject, outcome and evidence of each obligation that is not proved."""
    return [
        (obligation.kind, obligation.subject, answer.outcome, answer.evidence)
        for obligation, answer in proof_of(text).answers
        if answer.outcome is not Outcome.PROVED
    ]
