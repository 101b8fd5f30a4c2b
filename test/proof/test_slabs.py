# SPDX-License-Identifier: Apache-2.0
"""Layouts of slabs: the prover agrees with an enumeration of all places."""

from itertools import product

import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from proved import KERNELS, changed, failures, kernel
from xdsl.dialects.builtin import MemRefType
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.tile import ShareOp, StageOp, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import Outcome
from tilewright.proof.slabs import slab_obligations
from tilewright.proof.solver import Solver

SHARE = """\
loop.kernel @share(%x: memref<{n}x{m}xf32>) -> (%out: memref<{n}x{m}xf32>) {{
  tile.launch (%i = thread {n}, %j = thread {m}) {{
    %0 = loop.load %x[%i, %j] : memref<{n}x{m}xf32>
    %s = tile.share %0 at [%i, %j] : memref<{n}x{m}xf32{layout}, 3 : i64>
    %1 = loop.load %s[%i, %j] : memref<{n}x{m}xf32{layout}, 3 : i64>
    loop.store %1, %out[%i, %j] : memref<{n}x{m}xf32>
  }}
}}
"""


def share(n: int, m: int, layout: str = "") -> str:
    """Return a copy of an array through a shared slab of that layout."""
    return SHARE.format(n=n, m=m, layout=f", #tile.layout<{layout}>" if layout else "")


def is_right(type: MemRefType) -> bool:
    """True if each element has a place in memory of its own, by enumeration."""
    layout, shape, bytes = layout_of(type), type.get_shape(), size_of(type.element_type)
    places = [
        layout.offset([*map(AffineExpr.constant, element)], type).eval((), ())
        for element in product(*map(range, shape))
    ]
    size = layout.size(type)
    moved = [layout.swizzled(place * bytes) for place in range(size)]
    return (
        len({*places}) == len(places)
        and all(0 <= place < size for place in places)
        and sorted(moved) == [place * bytes for place in range(size)]
    )


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "order": st.permutations([0, 1]),
        "pad": st.lists(st.integers(0, 4), min_size=2, max_size=2),
        "deal": st.integers(1, 5),
        "inner": st.integers(1, 5),
        "swizzle": st.sampled_from([32, 64, 128]),
    },
)


@settings(max_examples=drawn(200))
@given(st.integers(1, 9), st.integers(1, 9), PARTS)
def test_answers_are_those_of_all_places(n: int, m: int, parts: dict[str, object]):
    text = share(n, m, ", ".join(f"{name} {value}" for name, value in parts.items()))
    op = next(op for op in kernel(text).walk() if isinstance(op, ShareOp))
    solver = Solver()
    outcomes = {each.decide(solver).outcome for each in slab_obligations(op)}
    expected = Outcome.PROVED if is_right(memref_type(op.slab)) else Outcome.REFUTED
    assert (outcomes == {Outcome.PROVED}) == (expected is Outcome.PROVED)
    assert Outcome.UNKNOWN not in outcomes


PLANTED = {
    "deal": ("deal 3", "slab", "coordinate 0 = "),
    "inner": ("inner 5", "slab", "place = "),
    "pad": ("pad [0, 3], swizzle 64", "swizzle", "place = "),
}


@pytest.mark.parametrize(("layout", "kind", "point"), PLANTED.values(), ids=PLANTED)
def test_a_wrong_layout_is_refuted_by_a_point(layout: str, kind: str, point: str):
    assert failures(share(5, 16, "pad [0, 4]")) == []
    found = [failure for failure in failures(share(5, 16, layout)) if failure[0] == kind]
    assert found
    assert all(outcome is Outcome.REFUTED and point in text for _, _, outcome, text in found)


def test_a_ring_that_fills_the_slot_that_is_read_is_refuted(monkeypatch: pytest.MonkeyPatch):
    text = (KERNELS / "matmul_odd.mlir").read_text()
    monkeypatch.setattr(StageOp, "lookahead", 3)  # the verifier refuses the text
    point = "step = 0, steps ahead = 3, slot = 0"
    assert failures(text) == [
        ("ring", f"slab %{name} fills no slot that is read", Outcome.REFUTED, point)
        for name in ("as", "bs")
    ]


@pytest.mark.parametrize("at", ["%i, %i", "%i floordiv 2, %j", "%i, %j - 1"])
def test_shares_fill_each_element_once(at: str):
    assert failures(share(4, 4)) == []
    wrong = changed(share(4, 4), "tile.share %0 at [%i, %j]", f"tile.share %0 at [{at}]")
    outcomes = {kind: outcome for kind, _, outcome, _ in failures(wrong)}
    assert outcomes["complete"] is Outcome.REFUTED
