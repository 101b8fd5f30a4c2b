# SPDX-License-Identifier: Apache-2.0
"""The comparison of searches writes the results of each."""

import json
from pathlib import Path

import pytest
import searches


@pytest.mark.every_case
def test_all_searches_begin_with_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--only", "column", "--budget", "2", "--seeds", "1", "--output", str(tmp_path)]
    searches.main(words)
    found = json.loads((tmp_path / "searches.json").read_text())
    assert [run["search"] for run in found["runs"]] == [*searches.SEARCHES]
    assert all(len(run["best_us"]) == 2 for run in found["runs"])
    assert len({run["best_us"][0] for run in found["runs"]}) == 1
    assert all(run["best_us"] == sorted(run["best_us"], reverse=True) for run in found["runs"])
    assert found["schedules"]["column sums"] > 0
    assert (tmp_path / "searches.svg").read_text().startswith("<?xml")
    assert capsys.readouterr().out.count("2 evaluations") == len(searches.SEARCHES)
