# SPDX-License-Identifier: Apache-2.0
"""The nets are those of the papers, and their benchmark prints its results."""

import json
from pathlib import Path

import convolution_nets
import nets
import pytest
from torch import nn


@pytest.mark.parametrize(
    ("net", "parameters"),
    [
        (nets.resnet101, 44_549_160),
        (nets.densenet121, 7_978_856),
        # Including two numbers of a normalisation for each of 7,280 biases.
        (nets.googlenet, 6_998_552 + 7_280),
    ],
)
def test_the_number_of_weights(net: object, parameters: int):
    assert callable(net)
    made = net()
    assert isinstance(made, nn.Module)
    assert sum(weight.numel() for weight in made.parameters()) == parameters


def test_ratios_to_a_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def measured(net: str, root: Path) -> convolution_nets.Measured:
        return convolution_nets.Measured(net, 50.0 if root == tmp_path else 20.0, 10.0, 31)

    monkeypatch.setattr(convolution_nets, "measured", measured)
    file = tmp_path / "found.json"
    convolution_nets.main(["--only", "resnet101", "--base", str(tmp_path), "--json", str(file)])
    assert "0.40" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())["nets"]
    assert (row["net"], row["ratio"], row["before"]["cpu_s"]) == ("resnet101", 0.4, 50.0)
