# SPDX-License-Identifier: Apache-2.0
"""`tilewright tune`, with times from a model or a script."""

import json
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from needs import needs_nvrtc

from tilewright.tools.commands import tune
from tilewright.tools.options import tune as options
from tilewright.tools.tune import evaluation, kernel_tuning, shortlist
from tilewright.tools.tune.evaluation import ByGpu
from tilewright.tools.tune.searches import SEARCHES
from tilewright.tuning.confidence import MODEL_SPREAD, worst_regret
from tilewright.tuning.database import Database
from tilewright.tuning.evaluators import gpu
from tilewright.tuning.evaluators.compiled import Compiled
from tilewright.tuning.evaluators.gpu import Executors, GpuEvaluator
from tilewright.tuning.evaluators.stopwatch import Job
from tilewright.tuning.measurement import Measurement

from ..conftest import Tilewright

RELU = ["-c", "torch.relu(torch.randn(64))"]
MODEL = ["--evaluator", "model", "--db", "tuned.sqlite"]
PLAN: Any = None


def known(folder: Path) -> list[Measurement]:
    """Return the measurements in the database."""
    with Database.reading(folder / "tuned.sqlite") as database:
        return [record.measurement for record in database.records()]


def test_the_model_finds_the_same_every_time(tmp_path: Path, tilewright: Tilewright) -> None:
    command = ["tune", *RELU, *MODEL, "--budget", "6", "--json", "found.json"]
    first, second = tilewright(*command), tilewright(*command)
    assert first.code == 0
    assert first == second
    lines = first.out.splitlines()
    assert lines[0] == "relu: 6 schedules estimated"
    assert lines[1].split()[:3] == ["us", "quartiles", "faster"]
    assert lines[2].split()[1:3] == ["0.00", "1.00x"]
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["device"], found["evaluator"], found["seed"]) == ("sm_90a", "model", 0)
    (kernel,) = found["kernels"]
    assert (kernel["origin"], kernel["measured"]) == (RELU[1], 6)
    assert kernel["measurements"][0] == kernel["default"]
    best = lines.index(f"best: {kernel['best']['schedule']}")
    assert lines[best + 1] == (
        f"at most {100 * kernel['worst_regret']:.0f} % slower than the fastest of these "
        "schedules, with 90 % (error of the model: docs/tuning.md)"
    )
    times = [each["us"] for each in kernel["measurements"]]
    assert kernel["worst_regret"] == worst_regret(times, MODEL_SPREAD) > 0
    assert len(known(tmp_path)) == 6


def test_a_single_schedule_needs_no_confidence(tmp_path: Path, tilewright: Tilewright) -> None:
    found = tilewright("tune", *RELU, *MODEL, "--budget", "1", "--json", "found.json")
    assert "slower than" not in found.out
    (kernel,) = json.loads((tmp_path / "found.json").read_text())["kernels"]
    assert kernel["worst_regret"] == 0


@pytest.mark.parametrize("search", ["random", "greedy"])
def test_other_searches(search: str, tilewright: Tilewright) -> None:
    found = tilewright("tune", *RELU, *MODEL, "--budget", "3", "--search", search)
    assert found.out.splitlines()[0] == "relu: 3 schedules estimated"


def test_the_command_line_knows_all_searches() -> None:
    assert tuple(SEARCHES) == options.SEARCHES


def test_it_resumes(tmp_path: Path, tilewright: Tilewright) -> None:
    tilewright("tune", *RELU, *MODEL, "--budget", "3")
    before = known(tmp_path)
    more = tilewright("tune", *RELU, *MODEL, "--budget", "2", "--resume")
    assert more.out.splitlines()[0] == "relu: 2 schedules estimated, 3 known"
    after = known(tmp_path)
    assert len(after) == 5
    assert set(before) < set(after)


def test_measurements_need_not_be_kept(tmp_path: Path, tilewright: Tilewright) -> None:
    found = tilewright("tune", *RELU, "--evaluator", "model", "--no-db", "--budget", "2")
    assert found.out.startswith("relu: 2 schedules estimated\n")
    assert [*tmp_path.iterdir()] == []


def test_a_bar_is_on_terminals_only(tilewright: Tilewright) -> None:
    command = ("tune", *RELU, *MODEL, "--budget", "2")
    assert tilewright(*command).err == ""
    assert "1/1 relu" in tilewright(*command, "--color", "always").err


def test_verbose_output_lists_each_schedule(tilewright: Tilewright) -> None:
    err = tilewright("tune", *RELU, *MODEL, "--budget", "2", "-v").err.splitlines()
    assert err[0] == "1/1 relu"
    assert err[1].endswith("(1.00x)): the default")
    assert err[2].startswith("  2: ")


@needs_nvrtc
def test_the_best_are_compiled(
    tmp_path: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "isolated", Mock(return_value=ThreadPoolExecutor(1)))
    found = tilewright("tune", *RELU, *MODEL, "--budget", "5", "--shortlist", "2", "-v")
    assert found.code == 0
    titles = [line for line in found.out.splitlines() if line.endswith(" estimated")]
    assert titles[0] == "relu: 5 schedules estimated"
    assert titles[1].startswith("relu by machine code: ")
    assert "slower than" not in found.out.partition(titles[1])[2]
    assert "2/2 relu by machine code" in found.err
    with Database.reading(tmp_path / "tuned.sqlite") as database:
        counts = {each.key.evaluator: each.measured for each in database.counts()}
    assert counts["model"] == 5
    assert counts["clock"] in (2, 3)  # the default is compiled in any case


def suite(folder: Path, *expressions: str) -> str:
    """Write a suite with one input of 64 elements for each expression; return its name."""
    cases = [
        {
            **{"name": f"case{n}", "op": "x", "expression": expression, "dtype": "float32"},
            **{"input_shapes": [[64]], "input_notes": "all inputs torch.randn", "seq_len": 1},
            **{"flops": 1, "min_bytes": 1, "floor_us_h100": 1},
        }
        for n, expression in enumerate(expressions)
    ]
    (folder / "suite.json").write_text(json.dumps({"cases": cases}))
    return "suite.json"


def test_kernels_of_a_suite_are_tuned_once(tmp_path: Path, tilewright: Tilewright) -> None:
    cases = suite(tmp_path, "t0.relu()", "torch.relu(t0)", "t0.exp()", "t0.nonsense()")
    found = tilewright("tune", cases, *MODEL, "--budget", "1")
    assert found.code == 1
    assert found.err.startswith("error: case 'case3': ")
    lines = found.out.splitlines()
    assert [line for line in lines if line.endswith("estimated")] == [
        "case0: relu: 1 schedule estimated",
        "case2: exp: 1 schedule estimated",
    ]
    assert [line.split()[-1] for line in lines[-2:]] == ["1.00x", "1.00x"]
    with Database.reading(tmp_path / "tuned.sqlite") as database:
        origins = {note.origin for note in database.notes().values()}
    assert origins == {"t0 = torch.randn([64]); t0.relu()", "t0 = torch.randn([64]); t0.exp()"}
    only = tilewright("tune", cases, *MODEL, "--budget", "1", "--filter", "case[12]$")
    assert only.code == 0
    assert only.out.count("schedule estimated") == 2


def test_space_measures_nothing(tmp_path: Path, tilewright: Tilewright) -> None:
    found = tilewright("tune", *RELU, "--space", "--db", "tuned.sqlite")
    lines = found.out.splitlines()
    assert found.code == 0
    assert lines[0].startswith("relu: about ")
    assert ["blockify-launch", "3"] in [line.split()[:2] for line in lines]
    assert ["tma-copy", "-"] in [line.split()[:2] for line in lines]
    assert not (tmp_path / "tuned.sqlite").exists()


ROWS = """\
loop.kernel @NAME(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<8x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
} planned "PINS"
"""


def rows(name: str, pins: str) -> str:
    """Return a kernel with pinned steps."""
    return ROWS.replace("NAME", name).replace("PINS", pins)


def test_pins_of_a_file_hold(tmp_path: Path, tilewright: Tilewright) -> None:
    pins = [f"plan-schedules,cooperative-reduce{{threads={threads}}}" for threads in (32, 64)]
    kernels = [rows(name, pin) for name, pin in zip("abc", (*pins, pins[0]), strict=True)]
    (tmp_path / "rows.mlir").write_text("".join(kernels))
    found = tilewright("tune", "rows.mlir", *MODEL, "--budget", "4", "--json", "found.json")
    assert (found.code, found.err) == (0, "wrote found.json\n")
    assert found.out.count("4 schedules estimated") == 2  # c is tuned with a
    first, second = json.loads((tmp_path / "found.json").read_text())["kernels"]
    for kernel, pin in zip((first, second), pins, strict=True):
        assert f"pinned: {pin}" in found.out
        assert kernel["pinned"] == pin
        threads = pin.partition("{")[2].removesuffix("}")
        assert all(threads in each["schedule"] for each in kernel["measurements"])
    assert first["digest"] == second["digest"]
    default = tilewright("compile", "rows.mlir", "--ir", "tile").out
    assert f'schedule "{first["default"]["schedule"]}"' in default


def test_pins_of_the_command_line_hold(tilewright: Tilewright) -> None:
    given = ["--schedule", "relu=plan-schedules,register-tile{items=4},chunk-reduce{chunk=4}"]
    found = tilewright("tune", *RELU, *MODEL, *given, "--budget", "6", "-v")
    assert found.code == 0
    warning, *others = found.err.splitlines()
    assert warning.startswith("warning: 'chunk-reduce{chunk=4}' planned for @relu did nothing: no")
    assert not [line for line in others if "items=" in line]
    assert "items=4" in found.out.partition("best: ")[2]


def test_pins_leave_fewer_schedules(tilewright: Tilewright) -> None:
    given = ["--schedule", "tileify,blockify-launch,mark-unroll"]
    found = tilewright("tune", *RELU, *given, "--space")
    assert found.out.startswith("relu: about 2 schedules\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("argv", "code", "complaint"),
    [
        (RELU, 1, "there is none: a test (--evaluator model needs none)"),
        ([*RELU, *MODEL, "--scheduler", "tcp://x"], 2, "--scheduler goes with --evaluator gpu"),
        ([*RELU, "--scheduler", "tcp://127.0.0.1:1"], 2, "there is no scheduler at 'tcp://127."),
        ([*RELU, *MODEL, "--filter", "x"], 2, "--filter goes with a suite.json only"),
        ([*RELU, "--space", "--json", "-"], 2, "--json is for measurements"),
        (
            [*RELU, *MODEL, "--budget", "0"],
            2,
            "'0' is not a number of schedules, nor a time such as 10m",
        ),
        ([*RELU, *MODEL, "--budget", "10d"], 2, "'10d' is not a number of schedules"),
        ([*RELU, *MODEL, "--json", "no/x.json"], 2, "cannot write 'no/x.json'"),
        ([*RELU, "--shortlist", "5"], 2, "--shortlist goes with --evaluator model"),
        ([*RELU, "--no-db", "--resume"], 2, "--resume needs a database"),
        (["-c", "torch.randn(4)", *MODEL], 2, "there is nothing to tune"),
        (["suite.json", *MODEL, "--filter", "y"], 2, "no case of 'suite.json' has a match"),
        (["tile.mlir", *MODEL], 2, "'tile.mlir' is scheduled already"),
        (["tile.mlir"], 2, "'tile.mlir' is scheduled already"),
        (
            ["suite.json", *MODEL, "--schedule", "tileify"],
            2,
            "--schedule is for the kernels of",
        ),
        ([*RELU, *MODEL, "--schedule", "plan-schedules,to-tile"], 2, "'to-tile' lowers a program"),
        (
            [*RELU, *MODEL, "--schedule", "plan-schedules,blockify-launch{n=0}"],
            1,
            "cannot do 'blockify-launch{n=0}' in @relu",
        ),
        (["broken.json"], 2, "'broken.json' is not a list of cases"),
    ],
)
def test_mistakes(
    argv: list[str],
    code: int,
    complaint: str,
    tmp_path: Path,
    tilewright: Tilewright,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tilewright.tools.bench.gpu.reason_against_gpu", lambda: "a test")
    monkeypatch.setattr("tilewright.tuning.executors.farm._CONNECT_S", 0.2)
    suite(tmp_path, "t0.relu()")
    (tmp_path / "broken.json").write_text("{")
    tilewright("compile", *RELU, "--ir", "tile", "-o", "tile.mlir")
    result = tilewright("tune", *argv)
    assert (result.code, result.out) == (code, "")
    assert complaint in result.err
    assert "Traceback" not in result.err


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Job], Measurement]], None]:
    """A function that replaces the GPU's measurements by those of a function."""

    def use(measure: Callable[[Job], Measurement]) -> None:
        @contextmanager
        def here(args: Any) -> Generator[ByGpu]:
            with ThreadPoolExecutor(1) as compiling, ThreadPoolExecutor(1) as measuring:
                yield ByGpu("sm_90a", "NVIDIA H100", 2, Executors(compiling, measuring))

        def evaluator(kernel: str, target: str, executors: Executors) -> GpuEvaluator:
            return GpuEvaluator(kernel, target, executors, measure)

        monkeypatch.setattr(tune, "evaluation_of", here)
        monkeypatch.setattr(evaluation, "GpuEvaluator", evaluator)
        monkeypatch.setattr(gpu, "compiled", compiled)

    return use


def compiled(kernel: str, schedule: str, target: str) -> Compiled:
    """Return a dummy plan: all schedules can be compiled."""
    return Compiled(PLAN, {})


GPU = ["--db", "tuned.sqlite", "--budget", "4"]


def test_a_gpu_measures(
    tmp_path: Path,
    tilewright: Tilewright,
    scripted: Callable[[Callable[[Job], Measurement]], None],
) -> None:
    asked: list[str] = []

    def measure(job: Job) -> Measurement:
        asked.append(job.schedule)
        if len(asked) == 2:
            return Measurement(job.schedule, None, "wrong: the error is 1, more than 0.1")
        return Measurement(job.schedule, 40.0 / len(asked), spread_us=0.5)

    scripted(measure)
    found = tilewright("tune", *RELU, *GPU)
    lines = found.out.splitlines()
    assert (found.code, found.err) == (0, "")
    assert lines[0] == "relu: 4 schedules measured, 1 without a time"
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["10.00", "0.50", "4.00x"],
        ["13.33", "0.50", "3.00x"],
        ["40.00", "0.50", "1.00x"],
    ]
    assert lines[4].endswith("  the default")
    assert lines[5] == f"best: {asked[3]}"
    assert lines[6] == "  1 x wrong: the error is 1, more than 0.1"
    with Database.reading(tmp_path / "tuned.sqlite") as database:
        (counts,) = database.counts()
    assert (counts.key.device, counts.key.evaluator) == ("NVIDIA H100", "gpu")
    assert (counts.measured, counts.failed, counts.best_us) == (3, 1, 10.0)


def test_the_default_is_the_best_unless_another_is_faster_by_more_than_noise(
    tmp_path: Path,
    tilewright: Tilewright,
    scripted: Callable[[Callable[[Job], Measurement]], None],
) -> None:
    times = iter([10.0, 9.5, 9.8, 12.0])
    scripted(lambda job: Measurement(job.schedule, next(times), spread_us=0.5))
    found = tilewright("tune", *RELU, *GPU, "--json", "found.json")
    (kernel,) = json.loads((tmp_path / "found.json").read_text())["kernels"]
    assert (kernel["best"], kernel["speedup"]) == (kernel["default"], 1.0)
    assert kernel["worst_regret"] is None  # times are measured
    assert "slower than" not in found.out
    assert kernel["default"]["us"] == 10.0
    assert f"best: {kernel['default']['schedule']}" in found.out.splitlines()
    why = tilewright("explain", *RELU, "--db", "tuned.sqlite", "--target", "sm_90a").out
    assert "known     10.00 us on NVIDIA H100 by the gpu" in why


def test_no_schedule_can_be_measured(
    tmp_path: Path,
    tilewright: Tilewright,
    scripted: Callable[[Callable[[Job], Measurement]], None],
) -> None:
    scripted(lambda job: Measurement(job.schedule, None, "killed"))
    found = tilewright("tune", *RELU, *GPU)
    assert found.code == 1
    assert found.out == "relu: 4 schedules measured, 4 without a time\n  4 x killed\n\n"
    assert found.err == "error: no schedule could be measured for: relu\n"
    assert len(known(tmp_path)) == 4


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((*RELU, "--budget", "9"), "relu: 3 schedules estimated\n"),
        # Interrupted between programs, whose kernels had only a first estimate.
        (
            ("-c", "F.rms_norm(torch.randn(4, 65536), (65536,))", "--budget", "30"),
            "rms_norm: 3 schedules estimated\n",
        ),
    ],
)
def test_an_interruption_prints_the_results_so_far(
    tmp_path: Path,
    tilewright: Tilewright,
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, ...],
    expected: str,
) -> None:
    add = kernel_tuning.KernelRecords.add

    def interrupted(self: Any, measurement: Measurement) -> None:
        if len(known(tmp_path)) == 3:
            raise KeyboardInterrupt
        add(self, measurement)

    monkeypatch.setattr(kernel_tuning.KernelRecords, "add", interrupted)
    found = tilewright("tune", *asked, *MODEL)
    assert found.code == 130
    assert found.out.startswith(expected)
    assert found.err == "interrupted: these are the results so far\n"
    assert len(known(tmp_path)) == 3
