# SPDX-License-Identifier: Apache-2.0
"""Known schedules that become the planned steps of a kernel, and those that are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.gpu import Gpu
from tilewright.dialects import loop
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Listener, Rule, listening
from tilewright.tuning import knowledge
from tilewright.tuning.database import Database
from tilewright.tuning.database_schema import DatabaseError
from tilewright.tuning.goldens import Golden, GoldenFile
from tilewright.tuning.kernel_key import digest, key_of
from tilewright.tuning.kernel_records import KernelRecords
from tilewright.tuning.key import SEMANTICS
from tilewright.tuning.known_schedules import scheduled_as_known, with_known_schedules
from tilewright.tuning.measurement import Measurement

Parse = Callable[[str], ModuleOp]

PRODUCT = """\
loop.kernel @NAME(%x: memref<70x64xf32>, %w: memref<64x48xf32>) -> (%out: memref<70x48xf32>) {
  loop.for %i in 70, %j in 48 {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<70x64xf32>
      %1 = loop.load %w[%k, %j] : memref<64x48xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<70x48xf32>
  }
}
"""

ROWS = """\
loop.kernel @rows(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<8x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
"""

TILED = "tileify,chunk-matmul-k{bk=16},blockify-launch{m=16 n=16}"
STAGED = f"{TILED},stage-inputs{{raw=x,w}},mark-unroll"
UNSTAGED = f"{TILED},mark-unroll"
MATRIX = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=32 n=32},stage-inputs{raw=x,w},"
    "register-tile{fm=2 fn=4 fk=1 min_blocks=1},tensor-core{instr=m16n8k8_tf32x3},"
    "double-buffer{depth=2},async-copy,pad-smem{pad=4 slabs=xs,ws},"
    "pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
PLAIN = "tileify,blockify-launch{m=8 n=8},mark-unroll"
TARGET = "sm_90a"
H100, H200 = "NVIDIA H100 PCIe", "NVIDIA H200"


def kernels(module: ModuleOp) -> dict[str, loop.KernelOp]:
    """Return the kernels of a module by their names."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, loop.KernelOp)}


def plans(module: ModuleOp) -> dict[str, str | None]:
    """Return the planned steps of all kernels."""
    return {name: op.planned and op.planned.data for name, op in kernels(module).items()}


@pytest.fixture
def module(parse: Parse) -> ModuleOp:
    """A product, and a row sum without measurements."""
    return parse(PRODUCT.replace("NAME", "mm") + ROWS)


Measure = Callable[..., None]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Path of an empty database."""
    path = tmp_path / "tuning.sqlite"
    Database.writing(path).close()
    return path


@pytest.fixture
def measure(db: Path, module: ModuleOp) -> Measure:
    """A function that stores the time of a schedule of the product."""

    def keep(
        schedule: str,
        us: float | None,
        gpu: str | None = H100,
        nvrtc: str = "13.0",
        spread_us: float = 0.0,
    ) -> None:
        kernel = kernels(module)["mm"]
        evaluator = "model" if gpu is None else "gpu"
        with Database.writing(db) as database:
            records = KernelRecords(database, kernel, key_of(kernel, TARGET, evaluator, gpu, nvrtc))
            records.add(Measurement(schedule, us, spread_us=spread_us))

    return keep


class Remarks(Listener[None]):
    """Listener that keeps skip reasons and decisions."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def look(self, scope: Operation) -> None:
        """Keep nothing of the kernel."""

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Keep the reason."""
        self.kept.append(f"{rule} {site}: {reason}")

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Keep the decision."""
        self.kept.append(f"{rule} {site} chosen: {reason}")


def test_the_fastest_becomes_the_plan(module: ModuleOp, db: Path, measure: Measure) -> None:
    for schedule, us in ((PLAIN, 9.0), (STAGED, 3.0), (UNSTAGED, 5.0), ("tileify", None)):
        measure(schedule, us)
    planned, used, _ = scheduled_as_known(module, TARGET, db)
    assert plans(planned) == {"mm": STAGED, "rows": None}
    assert plans(module) == {"mm": None, "rows": None}
    assert [*used] == ["mm"]
    assert str(used["mm"]).startswith(f"3.00 us on {H100} by the gpu, 20")
    assert str(used["mm"]).endswith(f", database {db}")
    done = kernels(lower(planned, Level.TILE, target=TARGET))["mm"].schedule
    assert done is not None
    assert done.data.startswith(f"{TILED},stage-inputs{{raw=x,w}}")


@pytest.mark.parametrize(("us", "is_default_used"), [(2.91, True), (2.89, False)])
def test_the_default_stays_unless_another_is_faster_by_more_than_noise(
    module: ModuleOp, db: Path, measure: Measure, us: float, is_default_used: bool
) -> None:
    default = kernels(lower(module, Level.TILE, target=TARGET))["mm"].schedule
    assert default is not None
    measure(default.data, 3.0, spread_us=0.04)
    measure(PLAIN, us, spread_us=0.16)
    measure(STAGED, us + 0.01, spread_us=0.16)
    planned, used, _ = scheduled_as_known(module, TARGET, db)
    assert plans(planned)["mm"] == (default.data if is_default_used else PLAIN)
    assert used["mm"].us == (3.0 if is_default_used else us)


def test_other_names_are_no_obstacle(parse: Parse, db: Path, measure: Measure) -> None:
    measure(STAGED, 3.0)
    other = parse(PRODUCT.replace("NAME", "product").replace("%x", "%query").replace("%w", "%key"))
    planned = with_known_schedules(other, TARGET, db)
    assert plans(planned) == {"product": STAGED.replace("raw=x,w", "raw=query,key")}


def test_tensor_cores_are_reused_under_other_names(
    parse: Parse, db: Path, measure: Measure
) -> None:
    measure(MATRIX, 3.0)
    other = parse(PRODUCT.replace("NAME", "product").replace("%x", "%query").replace("%w", "%key"))
    planned = with_known_schedules(other, TARGET, db)
    done = kernels(lower(planned, Level.TILE, target=TARGET))["product"].schedule
    assert done is not None
    renamed = MATRIX.replace("raw=x,w", "raw=query,key").replace("slabs=xs,ws", "slabs=querys,keys")
    assert done.data == renamed


def test_a_resumed_search_finds_all_measurements(
    module: ModuleOp, db: Path, measure: Measure
) -> None:
    for schedule, us in ((PLAIN, 9.0), (STAGED, 3.0), ("tileify", None)):
        measure(schedule, us)
    kernel = kernels(module)["mm"]
    with Database.writing(db) as database:
        records = KernelRecords(database, kernel, key_of(kernel, TARGET, "gpu", H100, "13.0"))
        found = [(known.schedule, known.us) for known in records.measurements()]
        assert found == [(STAGED, 3.0), (PLAIN, 9.0), ("tileify", None)]


def test_kernels_with_a_plan_keep_it(module: ModuleOp, db: Path, measure: Measure) -> None:
    measure(STAGED, 3.0)
    given = with_known_schedules(module, TARGET, db)
    measure(PLAIN, 1.0)
    assert plans(with_known_schedules(given, TARGET, db))["mm"] == STAGED


def test_without_known_schedules_nothing_changes(module: ModuleOp, db: Path) -> None:
    for where in (True, False, db):
        planned = with_known_schedules(module, TARGET, where)
        assert str(planned) == str(module)
        assert str(lower(planned, Level.KERNEL)) == str(lower(module, Level.KERNEL))


def test_the_same_database_gives_the_same_text(
    module: ModuleOp, db: Path, measure: Measure
) -> None:
    measure(UNSTAGED, 3.0)
    measure(STAGED, 3.0)
    texts = {str(with_known_schedules(module, TARGET, db)) for _ in range(3)}
    assert len(texts) == 1
    assert texts != {str(module)}


@pytest.mark.parametrize(
    "schedule", ["no-such-pass", "tileify,mark-unroll{limits=4}", "no(such-pass"]
)
def test_a_schedule_that_does_not_apply_is_skipped_with_a_remark(
    module: ModuleOp, db: Path, measure: Measure, schedule: str
) -> None:
    measure(schedule, 1.0, H200)
    remarks = Remarks()
    with listening(remarks):
        planned = with_known_schedules(module, TARGET, db)
    assert str(planned) == str(module)
    (remark,) = remarks.kept
    assert remark.startswith(f"t:020_known_schedules mm: '{schedule}' does not apply (1.00 us on ")
    assert "such-pass" in remark or "'limits'" in remark


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (f"{TILED},register-tile{{fm=3}}", "cannot do 'register-tile{fm=3"),
        ("tileify,chunk-reduce{chunk=8},mark-unroll", "'chunk-reduce{chunk=8}' does nothing"),
        (STAGED.replace("raw=x,w", "raw=x,nothing"), "it has no operand 'nothing'"),
        (f"{TILED},stage-inputs{{raw=x,w}},tma-copy{{slabs=xs}}", "does nothing"),
    ],
)
def test_the_schedule_of_another_gpu_is_tried_next(
    module: ModuleOp, db: Path, measure: Measure, schedule: str, reason: str
) -> None:
    measure(schedule, 1.0, H100)
    measure(PLAIN, 2.0, H200)
    remarks = Remarks()
    with listening(remarks):
        planned = with_known_schedules(module, TARGET, db)
    assert plans(planned)["mm"] == PLAIN
    refused, chosen = remarks.kept
    assert reason in refused
    assert chosen.startswith(f"t:020_known_schedules mm chosen: 2.00 us on {H200} by the gpu")


def test_the_next_of_the_same_measurements_is_taken(
    module: ModuleOp, db: Path, measure: Measure
) -> None:
    measure("no-such-pass", 1.0, H200)
    measure(STAGED, 3.0, H200)
    measure(PLAIN, 2.0, H200)
    assert plans(with_known_schedules(module, TARGET, db))["mm"] == PLAIN


def test_schedules_of_another_version_are_ignored(
    module: ModuleOp, db: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(PLAIN, 2.0)
    monkeypatch.setattr(knowledge, "SEMANTICS", SEMANTICS + 1)
    assert str(with_known_schedules(module, TARGET, db)) == str(module)


def test_other_targets_have_schedules_of_their_own(
    module: ModuleOp, db: Path, measure: Measure
) -> None:
    measure(PLAIN, 2.0)
    assert str(with_known_schedules(module, "sm_80", db)) == str(module)


def have(monkeypatch: pytest.MonkeyPatch, gpu: Gpu | None) -> None:
    """Make `gpu` the GPU that is present."""
    monkeypatch.setattr(knowledge, "present_gpu", lambda: gpu)


def goldens(monkeypatch: pytest.MonkeyPatch, gpu: str, kernel: str, schedule: str) -> None:
    """Make one golden the only shipped one."""
    golden = Golden(kernel, "", "", ("a", "b"), schedule, 7.0, "2026-01-01", SEMANTICS, "13.0")
    file = GoldenFile(Path("some-gpu.toml"), gpu, TARGET, (golden,))
    monkeypatch.setattr(knowledge, "shipped_goldens", lambda: (file,))


def plan_of(module: ModuleOp, db: Path | bool) -> str | None:
    """Return the planned steps of the product."""
    return plans(with_known_schedules(module, TARGET, db))["mm"]


def test_the_gpu_that_is_present_comes_first(
    module: ModuleOp, db: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(PLAIN, 1.0, H100)
    measure(STAGED, 5.0, H200)
    measure(UNSTAGED, 0.1, None)
    have(monkeypatch, None)
    assert plan_of(module, db) == PLAIN
    have(monkeypatch, Gpu(H200, (9, 0)))
    assert plan_of(module, db) == STAGED
    have(monkeypatch, Gpu("NVIDIA GH200", (9, 0)))
    assert plan_of(module, db) == PLAIN


def test_a_gpu_of_another_target_does_not_count(
    module: ModuleOp, db: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(PLAIN, 1.0, H100)
    measure(STAGED, 5.0, H200)
    have(monkeypatch, Gpu(H200, (8, 0)))
    assert plan_of(module, db) == PLAIN


def test_a_model_counts_without_measurements(module: ModuleOp, db: Path, measure: Measure) -> None:
    measure(UNSTAGED, 0.1, None)
    assert plan_of(module, db) == UNSTAGED
    for evaluator, schedule in (("evidence", STAGED), ("clock", PLAIN)):  # later ones come first
        with Database.writing(db) as database:
            key = key_of(kernels(module)["mm"], TARGET, evaluator, nvrtc="13.0")
            KernelRecords(database, kernels(module)["mm"], key).add(Measurement(schedule, 0.2))
        assert plan_of(module, db) == schedule
    measure(PLAIN, 1.0, H100)
    assert plan_of(module, db) == PLAIN


def test_a_newer_nvrtc_counts(module: ModuleOp, db: Path, measure: Measure) -> None:
    measure(STAGED, 1.0, nvrtc="12.9")
    measure(PLAIN, 2.0, nvrtc="13.10")
    measure(UNSTAGED, 0.5, nvrtc="13.9")
    assert plan_of(module, db) == PLAIN


def test_goldens_come_after_the_database_of_their_gpu(
    module: ModuleOp, db: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = digest(kernels(module)["mm"])
    goldens(monkeypatch, H100, kernel, STAGED.replace("raw=x,w", "raw=a,b"))
    assert plan_of(module, True) == STAGED
    assert plan_of(module, False) is None
    measure(PLAIN, 9.0, H200)
    assert plan_of(module, db) == STAGED
    have(monkeypatch, Gpu(H200, (9, 0)))
    assert plan_of(module, db) == PLAIN
    have(monkeypatch, None)
    measure(UNSTAGED, 8.0, H100)
    assert plan_of(module, db) == UNSTAGED


def test_a_path_that_is_no_database_is_an_error(module: ModuleOp, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no database"):
        with_known_schedules(module, TARGET, tmp_path / "none.sqlite")


def test_an_unreadable_user_database_is_ignored(
    module: ModuleOp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.sqlite"
    path.write_text("no database at all, but long enough for SQLite to look at its head" * 20)
    monkeypatch.setattr(knowledge, "own_database", lambda: path)
    with pytest.warns(UserWarning, match=r"own.sqlite': file is not a database; it is ignored$"):
        planned = with_known_schedules(module, TARGET)
    assert str(planned) == str(module)
