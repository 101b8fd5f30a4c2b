# SPDX-License-Identifier: Apache-2.0
"""`tilewright run --blocks N`: runs of a part of large grids, and the results they can compare."""

import json

import pytest

from tilewright.tools.cli import main


def test_results_of_the_blocks_that_ran_are_compared(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--blocks", "4", "--json", "-", "-c", "torch.randn(64, 512) * 2"]) == 0
    out, err = capsys.readouterr()
    (kernel,) = json.loads(out)["kernels"]
    assert kernel["blocks"] == 4 < kernel["grid"]
    assert f"4 of {kernel['grid']}" in err
    assert "right in the blocks that ran" in err


def test_small_grids_run_whole(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--blocks", "4", "-c", "torch.randn(32) * 2"]) == 0
    assert capsys.readouterr().out.endswith("\nright\n")


def test_kernels_that_read_missing_results_are_not_compared(capsys: pytest.CaptureFixture[str]):
    expression = "torch.log_softmax(torch.randn(40, 64), -1) @ torch.randn(64, 40)"
    assert main(["run", "--blocks", "2", "-c", expression]) == 0
    assert (
        "not compared: kernels read outputs of blocks that did not run" in capsys.readouterr().out
    )


@pytest.mark.parametrize("count", ["0", "-1", "few"])
def test_invalid_counts(count: str, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--blocks", count, "-c", "torch.randn(32)"]) == 2
    assert "is not a positive number of blocks" in capsys.readouterr().err
