# SPDX-License-Identifier: Apache-2.0
"""Damaged files of each kind that a command reads: they are read, or an error names them."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from damage import damaged, retyped
from draws import drawn
from rich.console import Console
from safetensors.torch import save

from tilewright.errors import UsageError
from tilewright.tools.bench.published_case import read_published
from tilewright.tools.bench.results_file import ResultsFile
from tilewright.tools.bench.row import SCHEMA, failed
from tilewright.tools.bench.suite import Case, read_cases
from tilewright.tools.bench.table import print_launches, print_rows, print_summary
from tilewright.tools.planted_bugs.equivalent import read_equivalent
from tilewright.tools.planted_bugs.hand_written_case import load_case
from tilewright.tools.program import stored_inputs
from tilewright.tuning.goldens import Golden, golden_files, golden_text

KERNELS = Path(__file__).parents[1] / "codegen" / "simulator"
RELU = Case("relu", "relu", "torch.relu(t0)", ((4, 8),), {}, 1, 1, 1, 1.0)
ENVIRONMENT = {"gpu": "NVIDIA H100", "tilewright": "1"}
LAUNCH = {"kernel": "relu", "grid": 1, "block": 32, "us": 1.5, "share": 1.0}
ROW = {
    **failed(RELU, ""),
    **{"us": 1.5, "eager_us": 2.0, "vs_eager": 1.3, "floor_us": 0.5, "roofline": 0.3},
    "launches": [{**LAUNCH, "floor_us": 0.5, "roofline": 0.3}],
}
RESULTS = {"schema": SCHEMA, "environment": ENVIRONMENT, "cases": [ROW]}
SUITE_CASE = {
    **{"name": "mm", "op": "matmul", "expression": "t0 @ t1", "input_shapes": [[4, 8], [8, 3]]},
    **{"inputs": {"t1": {"full": 1.5, "triu": 1}}, "dtype": "float32", "seq_len": 32},
    **{"flops": 1, "min_bytes": 1, "floor_us_h100": 0.5},
}
PUBLISHED_CASE = {
    **{name: SUITE_CASE[name] for name in ("name", "op", "expression", "input_shapes", "inputs")},
    **{"precision": "high", "published_ms": {"eager": 1.5, "compile": None}, "left_out": "why"},
}
GOLDEN = Golden("a" * 32, "f", "f(x)", ("x",), "tileify", 2.5, "2026-01-01T00:00:00", 1, "13.0")


def read_results(path: Path) -> None:
    """Show the results in a file."""
    row, out = ResultsFile(str(path), ENVIRONMENT).row(RELU), Console(file=StringIO())
    if row is None:
        return
    print_rows([row], out)
    print_summary([row], out)
    if row.get("launches"):
        print_launches(row, out)


def read_suite(path: Path) -> None:
    """Make the inputs of all cases, as values and as text."""
    for case in read_cases(path):
        assert case.function
        assert case.statements
        case.inputs("cpu")


def read_inputs(path: Path) -> None:
    stored_inputs(str(path), ["x", "y"])


def read_goldens(path: Path) -> None:
    for file in golden_files(path.parent):
        golden_text(file.gpu, file.target, file.goldens)


def read_equivalents(path: Path) -> None:
    read_equivalent(path.parent, "attention_values")


def content(kind: str) -> bytes:
    """Return the bytes of an undamaged file."""
    made: dict[str, Callable[[], bytes]] = {
        "results.json": lambda: json.dumps(RESULTS).encode(),
        "published.json": lambda: json.dumps({"cases": [PUBLISHED_CASE]}).encode(),
        "suite.json": lambda: json.dumps({"cases": [SUITE_CASE]}).encode(),
        "x.safetensors": lambda: save({"x": torch.ones(4, 8), "y": torch.arange(5)}),
        "golden.toml": lambda: golden_text("NVIDIA H100", "sm_90a", [GOLDEN]).encode(),
        "equivalent.toml": (KERNELS / "tile" / "equivalent.toml").read_bytes,
        "matmul_tma.toml": (KERNELS / "kernels" / "matmul_tma.toml").read_bytes,
    }
    return made[kind]()


READERS: dict[str, Callable[[Path], object]] = {
    "results.json": read_results,
    "published.json": read_published,
    "suite.json": read_suite,
    "x.safetensors": read_inputs,
    "golden.toml": read_goldens,
    "equivalent.toml": read_equivalents,
    "matmul_tma.toml": load_case,
}

_TOML = ("1", "true", '"x"', "nan", "[]", "{}", "2026-01-01", "-1", "1e999", "[1]", "9" * 5000)
"""Values that replace others in TOML."""


def changed(sound: bytes, name: str, random: Random) -> bytes:
    """Damage bytes, or replace one value by one of another type."""
    if name.endswith(".safetensors") and random.random() < 0.6:
        size = int.from_bytes(sound[:8], "little")
        head = retyped(sound[8 : 8 + size].decode(), random).encode()
        return len(head).to_bytes(8, "little") + head + sound[8 + size :]
    if name.endswith(".json") and random.random() < 0.7:
        return retyped(sound.decode(), random).encode()
    if name.endswith(".toml") and random.random() < 0.5:
        lines = sound.decode().splitlines(keepends=True)
        at = random.choice([n for n, line in enumerate(lines) if " = " in line])
        lines[at] = f"{lines[at].partition(' = ')[0]} = {random.choice(_TOML)}\n"
        return "".join(lines).encode()
    return damaged(sound, random)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_clean_errors(name: str, tmp_path: Path) -> None:
    path, sound, random = tmp_path / name, content(name), Random(0)
    path.with_suffix(".cu").write_text("")
    path.write_bytes(sound)
    READERS[name](path)
    refused = 0
    for _ in range(drawn(400)):
        path.write_bytes(changed(sound, name, random))
        try:
            READERS[name](path)
        except UsageError:
            refused += 1
    assert refused > drawn(400) / 4


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"us": None}, "us"),
        ({"us": "1.5"}, "us"),
        ({"vs_eager": 0}, "vs_eager"),
        ({"roofline": True}, "roofline"),
        ({"why": {"vs_eager": ""}}, "why"),
        ({"launches": [LAUNCH]}, "launches"),
    ],
)
def test_rows_that_cannot_be_shown(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**RESULTS, "cases": [ROW, {**ROW, **change}]}))
    says = rf"'.*results.json' is not a file of results: {complaint} of case 1 is wrong \(name"
    with pytest.raises(UsageError, match=says):
        read_results(path)
