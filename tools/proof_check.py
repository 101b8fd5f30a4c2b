# SPDX-License-Identifier: Apache-2.0
"""
Check of passes by proofs (`--check=prove`): after each pass, the kernels of Tile IR and Kernel IR
that it changed are proved. Kernels of Tile IR are compared with the loop nests that they were made
of.
"""

import sys
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.tile import launches_of
from tilewright.errors import TilewrightError


class RefutedError(TilewrightError):
    """An obligation of a kernel that does not hold after a pass."""


class ProofChecker:
    """Checker of passes that remembers the loop nest of each kernel, and its last proved text."""

    def __init__(self) -> None:
        self._nests = dict[str, KernelOp]()
        self._texts = dict[str, str]()
        self._remarks = set[str]()

    def __call__(self, before: ModuleOp, after: ModuleOp, name: str) -> None:
        """
        Prove the kernels that a pass changed; raise `RefutedError` for an obligation that does not
        hold. Unknown obligations and ops that are not covered are remarks on stderr.
        """
        old = {launch.kernel.sym_name.data: launch.kernel for launch in launches_of(before)}
        for op in before.ops:
            if isinstance(op, KernelOp) and op.sym_name.data not in old:
                self._nests[op.sym_name.data] = op
        for launch in launches_of(after):
            if self._has_changed(launch.kernel, str(launch)):
                self._check(launch.kernel, name)
        for op in after.ops:
            if isinstance(op, FuncOp) and self._has_changed(op, str(op)):
                self._check(op, name)

    def _has_changed(self, kernel: KernelOp | FuncOp, text: str) -> bool:
        """True if the text of a kernel is not the last one of this kernel; remember it."""
        symbol = kernel.sym_name.data
        last, self._texts[symbol] = self._texts.get(symbol), text
        return last != text

    def _check(self, kernel: KernelOp | FuncOp, name: str) -> None:
        """Prove one kernel after the pass called `name`."""
        proof: Any = import_module("tilewright.proof.kernels")
        symbol = kernel.sym_name.data
        if isinstance(kernel, FuncOp):
            found = proof.prove_function(kernel)
        else:
            found = proof.prove_kernel(kernel, nest=self._nests.get(symbol))
        for obligation, answer in found.answers:
            if answer.outcome == "proved":
                continue
            text = f"@{symbol}: {obligation.kind} of {obligation.subject} {answer.outcome}"
            message = f"{text}: {answer.evidence}"
            if answer.outcome == "refuted":
                op = proof.text_of(obligation.op)
                raise RefutedError(f"check of '{name}': {message}: {op}")
            self._remark(name, message)
        for op in found.not_covered:
            self._remark(name, f"@{symbol}: {op} has no obligations yet")

    def _remark(self, name: str, message: str) -> None:
        if message not in self._remarks:
            print(f"remark: check of '{name}': {message}", file=sys.stderr)
        self._remarks.add(message)
