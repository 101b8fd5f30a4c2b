# SPDX-License-Identifier: Apache-2.0
"""Kernels of Tile IR as text, and their certificates; the text may be ill-formed on purpose."""

from pathlib import Path

from xdsl.parser import Parser

from tilewright.dialects.loop import KernelOp
from tilewright.passes.driver.lowering import context
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate, prove_kernel
from tilewright.proof.solver import STEPS

KERNELS = Path(__file__).parents[1] / "passes" / "tile" / "kernels"
"""Folder of kernels that were scheduled by hand."""


def kernel(text: str) -> KernelOp:
    """Return the first kernel of a text, which is not verified."""
    module = Parser(context(), text).parse_module()
    return next(op for op in module.ops if isinstance(op, KernelOp))


def certificate(text: str, steps: int = STEPS, nest: str | None = None) -> Certificate:
    """Return the certificate of the first kernel of a text, and of its nest if there is one."""
    return prove_kernel(kernel(text), steps, None if nest is None else kernel(nest))


def failures(text: str) -> list[tuple[str, str, Outcome, str]]:
    """Return kind, subject, outcome and evidence of each obligation that is not proved."""
    return [
        (obligation.kind, obligation.subject, answer.outcome, answer.evidence)
        for obligation, answer in certificate(text).answers
        if answer.outcome is not Outcome.PROVED
    ]


def changed(text: str, old: str, new: str) -> str:
    """Return the text with the first `old` replaced; it has to be there."""
    assert old in text
    return text.replace(old, new, 1)
