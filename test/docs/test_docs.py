# SPDX-License-Identifier: Apache-2.0
"""The documentation is true: its IR, its commands and their output, its code, its links."""

import doctest
import itertools
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, Block, Command, blocks, commands, pages
from gpu_checks.options import parser as gpu_check_parser

from tilewright.codegen.simulator import Kind
from tilewright.dialects import get_all_dialects
from tilewright.passes import get_all_passes
from tilewright.passes.driver import pipelines
from tilewright.tools import cli
from tilewright.tools.run_lines import COMMANDS, call
from tilewright.universe import UNIVERSE

PAGES = pages()

EXAMPLES = [
    path.read_text()
    for folder in ("examples", "test/codegen/simulator/kernels", "test/codegen/simulator/tile")
    for pattern in ("*.py", "*.toml", "*.mlir")
    for path in sorted((ROOT / folder).rglob(pattern))
]

LEVEL_PAGES = {  # page: its dialect; the ops of Torch IR have a page of their own, docs/ops.md
    "tensor-ir": "prim",
    "loop-ir": "loop",
    "tile-ir": "tile",
    "kernel-ir": "kernel",
    "cuda-ir": "cuda",
}

SLOW = (
    "tilewright run examples/tiny_llama --prompt",
    "tilewright generate examples/tiny_llama --prompt",
    "tilewright compile examples/tiny_llama",
    "tilewright compile examples/mlp.py:Mlp --ir loop -vv",
    "tilewright compile examples/mlp.py:Mlp --ir tensor |",
    'tilewright compile -c "sum(torch.randn(140, 4).unbind())"',
    "tilewright compile examples/attention/attention.py:attention --ir loop -vv",
    "tilewright run examples/attention/attention.py:attention",
    "tilewright run examples/next_token/next_token.py:NextToken",
    "tilewright bench --static",
    "tilewright compile --no-db --target sm_90a --report --schedule",
    'tilewright compile -c "torch.relu(torch.randn(256, 512) @ torch.randn(512, 256))" --report',
)
"""Beginnings of commands that take seconds, which run with `--every-case`."""


def all_blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages in these languages."""
    return [block for language in languages for page in PAGES for block in blocks(page, language)]


def all_commands() -> list[Any]:
    """Return the commands of all pages, each with its place."""
    return [
        pytest.param(
            command,
            id=f"{block} {command.line[:60]}",
            marks=[pytest.mark.every_case] if command.line.startswith(SLOW) else [],
        )
        for block in all_blocks("console")
        for command in commands(block.text)
    ]


@pytest.fixture
def in_the_root(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder is the repository, with the example's package installed."""
    monkeypatch.chdir(ROOT)
    prepend: Callable[[Path], None] = getattr(monkeypatch, "syspath_prepend")
    prepend(site)
    # Tools look for passes when they start, and this process has started already.
    monkeypatch.setattr(UNIVERSE, "all_passes", get_all_passes())


@pytest.mark.parametrize("block", all_blocks("mlir"), ids=str)
def test_ir_parses_and_verifies(block: Block):
    result = call(COMMANDS["opt-tool"], ["-"], block.text.encode(), merged=True)
    assert result.code == 0, result.out.decode()


@pytest.mark.usefixtures("in_the_root")
@pytest.mark.parametrize("command", all_commands())
def test_commands_print_what_is_shown(command: Command):
    code, output = command.output()
    assert bool(code) == command.fails, output
    assert command.shows(output), (
        f"$ {command.line}\nprints now:\n{output}\n"
        "(python test/plugins/documents.py PAGE writes it into the page)"
    )


@pytest.mark.parametrize("beginning", SLOW)
def test_slow_commands_are_in_a_page(beginning: str):
    assert any(command.values[0].line.startswith(beginning) for command in all_commands())


@pytest.mark.parametrize("block", all_blocks("python", "toml"), ids=str)
def test_code_runs_or_is_quoted(block: Block):
    if ">>>" not in block.text:
        assert any(block.text in example for example in EXAMPLES)
        return
    test = doctest.DocTestParser().get_doctest(block.text, {}, str(block), None, block.line)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.parametrize("block", all_blocks("sh"), ids=str)
def test_other_commands_are_few(block: Block):
    """`sh` blocks are not run: they set up an environment, run these tests, or need a GPU."""
    for line in block.text.splitlines():
        program, *words = shlex.split(line)
        if words and words[0] == "benchmarks/gpu_check.py":
            assert gpu_check_parser().parse_args(words[1:])
        elif program == "tilewright":
            assert cli.parser().parse_args(words)
        else:
            assert program in ("pip", "make", "pytest", "lit", "eval")


def first_cells(header: str) -> list[str]:
    """Return the first cells of the rows of README's table with this header, without backquotes."""
    lines = (ROOT / "README.md").read_text().partition(header)[2].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [row.split("|")[1].strip().strip("`") for row in rows]


def test_readme_lists_all_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert first_cells("| extra ") == [*project["optional-dependencies"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_are_of_a_kind_that_is_tested(page: Path):
    fences = re.findall(r"^```(.*)$", page.read_text(), re.MULTILINE)
    assert set(fences[1::2]) <= {""}
    assert set(fences[::2]) <= {"mlir", "console", "python", "toml", "sh"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", LEVEL_PAGES)
def test_a_level_page_names_the_ops_of_its_dialect(name: str):
    dialect = LEVEL_PAGES[name]
    ops = {op.name for op in get_all_dialects()[dialect]().operations}
    text = (ROOT / "docs" / f"{name}.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith(f"| `{dialect}.")]
    named = {op for row in rows for op in re.findall(rf"`({dialect}\.[\w.]+)`", row.split("|")[1])}
    assert named == ops


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        ("torch-ir", pipelines.TO_TENSOR),
        ("tensor-ir", pipelines.TO_LOOP),
        ("loop-ir", pipelines.to_tile()),
        ("tile-ir", pipelines.TO_KERNEL),
        ("kernel-ir", pipelines.TO_CUDA),
    ],
)
def test_a_level_page_names_the_passes_that_leave_it(name: str, pipeline: str):
    text = (ROOT / "docs" / f"{name}.md").read_text()
    assert f"`{pipeline}`" in text
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for step in pipeline.split(","):
        pass_name, _, _ = step.partition("{")
        assert any(row.startswith(f"| `{pass_name}` ") for row in rows)


def test_the_simulator_page_names_every_finding():
    text = (ROOT / "docs" / "simulator.md").read_text()
    table = text[text.index("## Findings") : text.index("## Order of accesses")]
    assert re.findall(r"^\| `([a-z-]+)` ", table, re.MULTILINE) == list(Kind)


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.name
)
def test_a_page_begins_with_its_use(page: Path):
    beginning = " ".join(page.read_text().partition("\n##")[0].split())
    assert "After this page you " in beginning


def test_the_index_names_every_page():
    index = (ROOT / "docs" / "index.md").read_text()
    others = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [name for name in others if f"({name})" not in index] == []
