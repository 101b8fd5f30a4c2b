# SPDX-License-Identifier: Apache-2.0
"""Slabs that TMA copies are boxes of their tensors; planted bugs are refuted."""

import pytest
from proved import KERNELS, certificate, changed, failures

from tilewright.proof.answer import Outcome

ODD = (KERNELS / "batched_matmul_tma.mlir").read_text()
SLABS = (KERNELS / "matmul_tma_slabs.mlir").read_text()


@pytest.mark.parametrize("text", [ODD, SLABS], ids=["odd sizes", "pieces"])
def test_boxes_are_proved(text: str):
    found = certificate(text)
    assert found.is_proved
    assert sum(obligation.kind == "box" for obligation, _ in found.answers) == 6


REFUTED = {
    "order of axes": ("[%bm * 128 + %i, %ko * 32 + %k]", "[%bm * 128 + %k, %ko * 32 + %i]"),
    "every second row": ("[%bm * 128 + %i, %ko * 32 + %k]", "[%bm + %i * 2, %ko * 32 + %k]"),
    "diagonal": ("[%bm * 128 + %i, %ko * 32 + %k]", "[%bm + %i + %k, %ko * 32 + %k]"),
    "mask within the tensor": (
        "%ko * 32 + %k] : memref<256x160xf32>",
        "%ko * 32 + %k] where [200 - %bm * 128 - %i] : memref<256x160xf32>",
    ),
    "axis left out": ("[%bm * 128 + %i, %ko * 32 + %k]", "[%bm * 128 + %i, %ko * 32]"),
}


@pytest.mark.parametrize(("old", "new"), REFUTED.values(), ids=REFUTED)
def test_a_slab_that_is_no_box_is_refuted(old: str, new: str):
    boxes = [failure for failure in failures(changed(SLABS, old, new)) if failure[0] == "box"]
    assert boxes
    assert {outcome for _, _, outcome, _ in boxes} == {Outcome.REFUTED}


def test_sizes_of_the_hardware():
    padded = SLABS.replace("#tile.layout<swizzle 128>", "#tile.layout<pad [0, 4]>")
    assert failures(padded) == [
        (
            *("box", "box of slab %as in hardware", Outcome.REFUTED),
            "a box is stored without padding",
        )
    ]
