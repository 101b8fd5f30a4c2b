# SPDX-License-Identifier: Apache-2.0
"""`tilewright fuzz`: graphs that pass, and a planted bug that is found, shrunk and saved."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from needs import needs_nvrtc

from tilewright.passes.decompose.slicing import Flip
from tilewright.passes.decompose.view import axes_of
from tilewright.tools import opt_tool
from tilewright.tools.fuzz import random_programs
from tilewright.tools.fuzz.checks import Settings
from tilewright.tools.fuzz.graphs import Graph, Input, Node, random_graph
from tilewright.tools.fuzz.saved import ir_file, python_file

from ..conftest import Tilewright

pytestmark = needs_nvrtc

GRAPH = Graph(
    (Input((5, 3), "bfloat16"), Input((3,)), Input((2,), "int64")),
    (
        Node("sin", 0, (0,)),
        Node("add", 0, (3, 1)),
        Node("flipped", 3, (4,)),
        Node("softmax", 0, (5,)),
        Node("mul", 0, (6, 5)),
    ),
    (4, 7),
)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """`flip` changes nothing."""

    def decompose(self: Flip, op: Any, emit: Any) -> Any:
        input = emit.stored(op.input)
        return input.view(axes_of(input.rank), input.shape)

    monkeypatch.setattr(Flip, "decompose", decompose)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are checked one after the other without other processes."""

    def call_each(call: Callable[[int], Any], numbers: Sequence[int], **_: Any) -> Iterator[Any]:
        return ((number, call(number)) for number in numbers)

    monkeypatch.setattr(random_programs, "forked", call_each)


def test_a_graph_depends_on_its_random_numbers_alone():
    one, other = (random_graph(Random(7), 5, 9) for _ in range(2))
    assert one == other
    assert one != random_graph(Random(8), 5, 9)


@pytest.mark.usefixtures("planted")
def test_a_planted_bug_is_found_and_shrunk(
    tilewright: Tilewright, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    found = random_programs.fuzzed(0, GRAPH, Settings("sm_80", 0, "seed"))
    failure = found.checked.failure
    assert failure is not None
    assert failure.kind == "pass decompose: PassCheckError"
    assert [node.op for node in found.graph.nodes] == ["flipped"]
    assert found.graph.inputs[found.graph.nodes[0].operands[0]].shape == (2,)
    assert found.graph.results == (3,)
    (tmp_path / "found.py").write_text(
        python_file(found.graph, failure, found.settings, "found.py", "tilewright fuzz")
    )
    assert "aten.flip" in (tmp_path / "found.py").read_text()
    code, _, err = tilewright("run", "found.py:program", "--device", "sim", "--check=each")
    assert code == 1
    assert "decompose" in err
    (tmp_path / "found.mlir").write_text(ir_file(failure) or "")
    file = tmp_path / "found.mlir"
    assert failure.command == "opt-tool %s -p 'decompose' --check=each"
    assert opt_tool.main([str(file), "-p", "decompose", "--check=each"]) == 1
    assert "decompose" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_graphs_pass(tilewright: Tilewright):
    options = ("--count", "1", "--schedules", "1", "--seed", "2", "--json", "counts.json")
    code, out, err = tilewright("fuzz", *options)
    assert (code, err) == (0, "wrote counts.json\n")
    assert out.splitlines()[-1].endswith(", simulations 2; 0 failures")
    content = json.loads(Path("counts.json").read_text())
    assert content["counts"]["graphs"] == 1
    assert content["failures"] == []


@pytest.mark.usefixtures("in_this_process")
def test_failures_are_printed_and_written(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: Any, **__: Any) -> None:
        raise AssertionError("planted\nin the capture")

    monkeypatch.setattr("tilewright.api.capture", fails)
    code, out, err = tilewright("fuzz", "--only", "3", "--keep", "found")
    assert code == 1
    assert "graph 3: capture: AssertionError: planted in the capture\n  found/fuzz-0-3.py\n" in out
    assert out.endswith("seed 0: graphs 1; 1 failure\n")
    assert err == "wrote found/fuzz-0-3.py\n"
    assert "tilewright fuzz --seed 0 --only 3`" in Path("found/fuzz-0-3.py").read_text()
