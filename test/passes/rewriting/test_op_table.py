# SPDX-License-Identifier: Apache-2.0
"""Tables by the class of an op: a part is loaded for the first op that it may contain."""

import sys

import pytest
from xdsl.dialects import arith, func, math

from tilewright.passes.rewriting.op_table import OpTable

PART = "tilewright.passes.cuda.matrices"


def test_a_part_is_loaded_for_its_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, PART, raising=False)
    table = OpTable[object]({math.SinOp: "sin"}, {arith.__name__: [f"{PART}:MATRICES"]})
    assert table.get(math.SinOp) == "sin"
    assert table.get(func.CallOp) is None
    assert PART not in sys.modules
    assert table.get(arith.AddfOp) is None
    assert PART in sys.modules


def test_the_first_table_with_the_op_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SINES", {math.SinOp: "sin"}, raising=False)
    monkeypatch.setattr(sys.modules[__name__], "OTHERS", {math.CosOp: "cos"}, raising=False)
    parts = {math.__name__: [f"{__name__}:SINES", f"{__name__}:OTHERS"]}
    table = OpTable[str]({}, parts)
    assert [table.get(kind) for kind in (math.SinOp, math.CosOp, math.TanOp)] == [
        "sin",
        "cos",
        None,
    ]
