# SPDX-License-Identifier: Apache-2.0
"""The cases of suite84 agree with its file."""

import json
from pathlib import Path

import pytest
import torch
from suite84 import DATA, Case, cases

from tilewright.tools.bench.suite import read_cases

CASES = list(cases())


def test_there_are_84():
    assert len(CASES) == len({case.name for case in CASES}) == 84
    assert [case.op for case in cases("rmsnorm")] == ["rmsnorm"] * 6


def expected_shapes() -> dict[str, list[int]]:
    """Return the shape of each case's output."""
    return {entry["name"]: entry["output_shape"] for entry in json.loads(DATA.read_text())["cases"]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_shapes_and_bytes(case: Case):
    inputs = case.inputs()
    result = case.function(*inputs)
    assert list(result.shape) == expected_shapes()[case.name]
    assert sum(4 * tensor.numel() for tensor in (*inputs, result)) == case.min_bytes


def test_inputs_are_drawn_but_for_masks():
    (case,) = cases("naive_attn.tinyllama.s32")
    *drawn, mask = case.inputs("cpu")
    again = case.inputs("cpu", seed=0)
    assert all(torch.equal(one, other) for one, other in zip(drawn, again))
    assert not torch.equal(drawn[0], case.inputs("cpu", seed=1)[0])
    assert torch.equal(mask, torch.full((32, 32), -1e9).triu(1))


def test_old_suites_describe_the_same_inputs_in_words(tmp_path: Path):
    content = json.loads(DATA.read_text())
    for entry in content["cases"]:
        special = entry.pop("inputs", None)
        mask = "t3 = torch.full((S,S), -1e9).triu(1)"
        entry["input_notes"] = mask if special else "all inputs torch.randn"
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert [*read_cases(tmp_path / "old.json")] == CASES


def test_a_case_is_one_text():
    (case,) = cases("naive_attn.tinyllama.s32")
    assert "; t3 = torch.full([32, 32], -1000000000.0).triu(1); F.softmax(" in case.statements
    assert case.statements.startswith("t0 = torch.randn([1, 32, 32, 64]); t1 = ")
