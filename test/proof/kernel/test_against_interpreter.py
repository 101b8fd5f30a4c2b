# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: proofs refute all that stop the interpreter, which runs one order of threads."""

import numpy as np
import pytest
from proved_threads import function
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.types import memref_type
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.planted_bugs.thread_bugs import found_by_proof, thread_bugs

from .test_races import CLUSTER, GROUPS, OVERLAP, REVERSE
from .test_rings import CP_ASYNC, TMA

KERNELS = {
    "cp_async": CP_ASYNC,
    "tma": TMA,
    "reverse": REVERSE,
    "groups": GROUPS,
    "overlap": OVERLAP,
    "cluster": CLUSTER,
}


def report_of(kernel: FuncOp) -> str:
    """Return the error of the interpreter, or an empty text."""
    shapes = [memref_type(buffer).get_shape() for buffer in kernel.inputs]
    inputs = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes]
    try:
        interpret(with_main(ModuleOp([kernel.clone()])), *inputs)
    except InterpreterError as err:
        return str(err)
    return ""


@pytest.mark.parametrize("name", KERNELS)
def test_what_the_interpreter_reports_is_refuted(name: str, pytestconfig: pytest.Config):
    every_case = pytestconfig.getoption("--every-case")
    kernel = function(KERNELS[name])
    assert report_of(kernel) == ""
    missed = [
        (bug.what, bug.line, report)
        for bug in thread_bugs(kernel, 24 if every_case else 12, seed=0)
        if (report := report_of(bug.function)) and not found_by_proof(bug)
    ]
    assert missed == []
