# SPDX-License-Identifier: Apache-2.0
"""The out-of-tree scheduling pass of `examples/raster_blocks` works like a built-in step."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from example_package import ROOT, install

from tilewright import api
from tilewright.dialects import loop
from tilewright.passes import get_all_passes, scheduling_steps
from tilewright.passes.driver import pipelines
from tilewright.tools.run_lines import run_in_terminal, run_lines
from tilewright.tuning.applicability import reason_against_schedule
from tilewright.universe import UNIVERSE

SOURCE = ROOT / "examples" / "raster_blocks"
TEST_FILE = SOURCE / "raster-blocks.mlir"
LARGE = "torch.randn(2048, 512) @ torch.randn(512, 4096)"
SMALL = "torch.randn(2048, 512) @ torch.randn(512, 2048)"
SPLIT_TWICE = "tileify,blockify-launch{m=16 n=16},raster-blocks{height=7},mark-unroll"
WITHOUT = "tileify,blockify-launch{m=16 n=16},mark-unroll"
CACHES = (
    scheduling_steps.scheduling_steps,
    scheduling_steps.added_steps,
    scheduling_steps.step_named,
    pipelines.available_passes,
    pipelines.passes_of,
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package is installed."""
    return install(tmp_path_factory.mktemp("raster_blocks"), SOURCE)


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is on Python's path, with the caches of steps cleared before and after."""
    prepend: Callable[[Path], None] = getattr(monkeypatch, "syspath_prepend")
    prepend(package)
    for cache in CACHES:
        cache.cache_clear()
    monkeypatch.setattr(UNIVERSE, "all_passes", get_all_passes())
    yield
    monkeypatch.undo()
    for cache in CACHES:
        cache.cache_clear()


def printed(command: str) -> str:
    """Return the output of a command, which must succeed."""
    done = run_in_terminal(command)
    assert done.code == 0, done.out
    return done.out.decode()


def explained(expression: str) -> str:
    """Return the output of `explain` for an expression."""
    return printed(f'tilewright explain --no-db --target sm_90a -c "{expression}"')


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("line", [*run_lines(TEST_FILE.read_text())])
def test_its_own_test(line: str) -> None:
    printed(line.replace("%s", str(TEST_FILE)))


@pytest.mark.usefixtures("installed")
def test_its_cost_chooses_it_or_not() -> None:
    assert "  t:099     raster-blocks{height=8}\n" in explained(LARGE)
    remark = "raster-blocks: no, it costs 25 without, and at best 25 with it"
    small = explained(SMALL)
    assert remark in small
    assert remark in (SOURCE / "README.md").read_text()
    assert "raster-blocks" not in small.partition("schedule")[2].partition("\n")[0]


def test_it_is_short_and_shown_in_whole() -> None:
    code = (SOURCE / "raster_blocks.py").read_text()
    assert code.count("\n") <= 90
    page = (ROOT / "docs/writing-a-scheduling-pass.md").read_text()
    body = code.partition('"""\n\n')[2].partition("from dataclasses")[2]
    for part in body.split("\n\n\n"):
        assert part.strip() in page


@pytest.mark.usefixtures("installed")
def test_it_runs() -> None:
    program = '-c "torch.randn(100, 64) @ torch.randn(64, 96)"'
    assert f'"{SPLIT_TWICE}"' in (ROOT / "docs/writing-a-scheduling-pass.md").read_text()
    out = printed(f'tilewright run --device sim --no-db {program} --schedule "{SPLIT_TWICE}"')
    assert out.rstrip().endswith("right")


@pytest.mark.usefixtures("installed")
def test_a_search_finds_it_and_its_schedule_serves_other_names(tmp_path: Path) -> None:
    db = f"--db {tmp_path / 'db.sqlite'} --target sm_90a"
    search = "--evaluator model --programs 0 --budget 30 --jobs 1 --seed 0"
    out = printed(f'tilewright tune {db} {search} -c "{LARGE}"')
    (best,) = {line for line in out.splitlines() if line.startswith("best: ")}
    assert "raster-blocks{height=" in best
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n\nexample_inputs = (torch.randn(2048, 512), torch.randn(512, 4096))\n\n\n"
        "def product(left, right):\n    return left @ right\n"
    )
    out = printed(f"tilewright explain {db} {program}:product")
    assert "known" in out
    assert best.removeprefix("best: ").replace("t0", "left").replace("t1", "right") in out


def compiled(expression: str, schedule: str = "") -> str:
    """Return the CUDA text of an expression."""
    given = f'--schedule "{schedule}"' if schedule else ""
    return printed(f'tilewright compile --no-db --target sm_90a -c "{expression}" {given}')


@pytest.fixture(scope="module")
def before() -> tuple[str, str]:
    """CUDA text of two kernels without the package."""
    return compiled(SMALL), compiled(LARGE, WITHOUT)


@pytest.mark.usefixtures("installed")
def test_kernels_for_which_it_is_not_chosen_are_as_before(before: tuple[str, str]) -> None:
    assert (compiled(SMALL), compiled(LARGE, WITHOUT)) == before


def test_a_recorded_schedule_with_a_missing_pass_is_skipped() -> None:
    left, right = torch.ones(32, 16), torch.ones(16, 32)
    module = api.lower(api.capture(torch.matmul, left, right), "loop")
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    reason = reason_against_schedule(kernel, SPLIT_TWICE, "sm_90a")
    assert reason is not None
    assert "unknown pass 'raster-blocks'" in reason


def test_without_it_a_schedule_that_names_it_is_refused() -> None:
    done = run_in_terminal(f'tilewright compile --no-db -c "{SMALL}" --schedule "{SPLIT_TWICE}"')
    assert done.code == 2
    assert b"unknown pass 'raster-blocks'" in done.out
