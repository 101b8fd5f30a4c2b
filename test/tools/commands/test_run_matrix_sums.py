# SPDX-License-Identifier: Apache-2.0
"""`tilewright run --matrix-sums`: the arithmetic of tensor cores in the simulator."""

import json

import pytest
from needs import needs_nvrtc

from tilewright.matrix_sums import MatrixSums
from tilewright.tools.cli import main

FACTORS = "torch.rand(64, 64).bfloat16().float(), torch.rand(64, 32).bfloat16().float()"
PRODUCT = ["--target", "sm_80", "--matmul-precision", "high", "-c", f"torch.mm({FACTORS})"]


def error_of(sums: MatrixSums, capsys: pytest.CaptureFixture[str]) -> float:
    """Return the error of a sum on tensor cores."""
    assert main(["run", "--matrix-sums", sums, "--json", "-", *PRODUCT]) == 0
    report = json.loads(capsys.readouterr().out)
    (output,) = report["outputs"]
    return output["max_abs_err"]


@needs_nvrtc
def test_sums_are_those_of_the_model(capsys: pytest.CaptureFixture[str]):
    once, cut = (error_of(sums, capsys) for sums in MatrixSums)
    assert 0 < once < cut


def test_a_gpu_has_sums_of_its_own(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--device", "gpu", "--matrix-sums", "truncated", *PRODUCT]) == 2
    assert "a GPU computes sums by its own arithmetic" in capsys.readouterr().err


def test_models_are_known_by_their_words(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--matrix-sums", "exact", *PRODUCT]) == 2
    assert ", ".join(MatrixSums) in capsys.readouterr().err.replace("'", "")
