# SPDX-License-Identifier: Apache-2.0
"""Errors for targets that lack a feature of a kernel, and the tensor maps that a plan lists."""

from pathlib import Path

import pytest

from tilewright.tools.cli import main

TESTS = Path(__file__).parent.parent
BOXES = str(TESTS / "passes" / "cuda" / "hand_written" / "bmm_tma.mlir")
CLUSTER = str(TESTS / "passes" / "tile" / "kernels" / "matmul_join_cluster.mlir")


def test_boxes_need_a_tensor_memory_accelerator(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", BOXES, "--target", "sm_80", "--ir", "cuda"]) == 1
    expected = "kernel @bmm: error: sm_80 has no tensor memory accelerator; sm_90a has one"
    assert expected in capsys.readouterr().err


def test_clusters_need_a_target_that_has_them(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", CLUSTER, "--target", "sm_80", "--ir", "cuda"]) == 1
    expected = (
        "kernel @relu_addmm: error: sm_80 has no clusters of blocks; sm_90a has them "
        "(let its blocks join with join(last_block))"
    )
    assert expected in capsys.readouterr().err


def test_a_plan_lists_its_tensor_maps(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", BOXES, "--plan", "-"]) == 0
    expected = (
        "(map of %a: box [1, 64, 16], swizzle 64 B, map of %b: box [1, 64, 16], swizzle 64 B, "
    )
    assert expected + "%a, %b) -> (%c)" in capsys.readouterr().out
