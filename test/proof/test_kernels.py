# SPDX-License-Identifier: Apache-2.0
"""Certificates of whole kernels, which were scheduled by hand."""

import json
from pathlib import Path

import pytest
from proved import KERNELS, certificate, changed

from tilewright.proof.answer import Outcome

PATHS = sorted(KERNELS.glob("*.mlir"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_hand_written_kernels_are_proved(path: Path):
    found = certificate(path.read_text())
    assert found.count(Outcome.PROVED) == len(found.answers) >= 6
    assert found.is_proved


UNKNOWN_OP = """\
loop.kernel @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  tile.launch (%t = thread 4) {
    %other = memref.alloc() : memref<4xf32>
    %at = arith.constant 3 : index
    %0 = loop.load %x[%at] : memref<4xf32>
    loop.store %0, %out[%t] : memref<4xf32>
  }
}
"""


def test_ops_without_obligations_are_named_and_not_proved():
    found = certificate(UNKNOWN_OP)
    assert dict(found.not_covered) == {"memref.alloc": 1, "index by arith.constant": 1}
    assert found.count(Outcome.PROVED) == len(found.answers)
    assert not found.is_proved


def test_json_has_the_evidence_of_what_is_not_proved():
    text = (KERNELS / "softmax_100.mlir").read_text()
    wrong = changed(text, "%x[%rb * 4 + %rw, %t * 4 + %v]", "%x[%rb * 4 + %rw, %t * 4 + %v + 1]")
    content = certificate(wrong).as_json()
    assert content == json.loads(json.dumps(content))
    assert (content["kernel"], content["proved"], content["not_covered"]) == ("softmax", False, {})
    (refuted,) = [each for each in content["obligations"] if each["outcome"] == "refuted"]
    assert (refuted["kind"], refuted["subject"]) == ("bounds", "load from %x")
    assert refuted["op"].startswith("%0 = loop.load %x[")
    assert refuted["evidence"].endswith("subscript 1 = 100")
    assert content == certificate(wrong).as_json()
