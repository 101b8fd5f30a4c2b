# SPDX-License-Identifier: Apache-2.0
"""`tilewright db`: the tables it prints, and exports, imports and merges."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from damage import damaged, retyped
from draws import drawn
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.tuning.database import Database
from tilewright.tuning.kernel_key import digest, key_of
from tilewright.tuning.kernel_records import KernelRecords
from tilewright.tuning.key import KernelNote, Key
from tilewright.tuning.measurement import Measurement

from ..conftest import Result, Tilewright

KERNEL = """\
loop.kernel @double(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i] : memref<8xf32>
  }
}
"""

GPU = "NVIDIA H100 80GB HBM3"
FAST = Measurement("tileify,stage-inputs{raw=x},mark-unroll", 2.5, spread_us=0.125)
SLOW = Measurement("tileify,mark-unroll", 4.0)
FAILED = Measurement("tileify,register-tile{fm=3}", None, "no [3] threads")


@pytest.fixture
def kernel(parse: Callable[[str], ModuleOp]) -> loop.KernelOp:
    """The kernel that the database has measurements of."""
    return next(op for op in parse(KERNEL).ops if isinstance(op, loop.KernelOp))


@pytest.fixture
def db(tmp_path: Path, kernel: loop.KernelOp) -> str:
    """A database with measurements of `kernel`."""
    path = tmp_path / "tuning.sqlite"
    with Database.writing(path) as database:
        key = key_of(kernel, "sm_90a", "gpu", GPU, "13.0")
        records = KernelRecords(database, kernel, key, "torch.randn(8) * 2")
        for measurement in (SLOW, FAILED, FAST):
            records.add(measurement)
        model = KernelRecords(database, kernel, key_of(kernel, "sm_90a", "model"))
        model.add(SLOW._replace(us=1.0))
    return str(path)


def output_of(result: Result) -> str:
    """Return the output of a command that succeeds."""
    assert (result.code, result.err) == (0, "")
    return result.out


def test_ls(tilewright: Tilewright, db: str, kernel: loop.KernelOp) -> None:
    head, measured, modelled, total = output_of(tilewright("db", "ls", "--db", db)).splitlines()
    assert head.split() == [
        *("key", "kernel", "target", "device", "evaluator", "nvrtc"),
        *("schedules", "failed", "best", "us", "latest"),
    ]
    assert measured.split() == [
        *(digest(kernel)[:6], "double(8xf32)", "->", "8xf32", "sm_90a", *GPU.split(), "gpu"),
        *("13.0", "2", "1", "2.50", measured.split()[-1]),
    ]
    assert modelled.split()[4:7] == ["sm_90a", "sm_90a", "model"]
    assert total == f"3 measurements and 1 estimate of 1 kernel in {db}"
    first, _ = json.loads(output_of(tilewright("db", "ls", "--db", db, "--json")))
    assert (first["device"], first["measured"], first["best_us"]) == (GPU, 2, 2.5)


def similar_kernels(count: int) -> list[KernelNote]:
    """Return notes of kernels that share the name `double` and their arguments."""
    about = "double(8xf32) -> 8xf32"
    digests = ["abcdef0", "abcdef1", *(f"{n:06d}" for n in range(count - 2))]
    return [
        KernelNote(digest.ljust(32, "7"), "double", about, ("x",), f"torch.randn(8) * {n}", "")
        for n, digest in enumerate(digests)
    ]


def test_each_row_of_ls_has_a_key_that_show_takes(tilewright: Tilewright) -> None:
    """Kernels of one name for one GPU differ in their origins and their keys."""
    notes = similar_kernels(4)
    with Database.writing(Path("similar_kernels.sqlite")) as database:
        for note in notes:
            database.merge([note], [])
            database.add(Key(note.kernel, "f32", "sm_90a", GPU, "gpu", 1, "13.0"), FAST)
    listed = output_of(tilewright("db", "ls", "--db", "similar_kernels.sqlite"))
    assert "  expression  " in listed.splitlines()[0]
    keys = [line.split()[0] for line in listed.splitlines()[1:-1]]
    assert keys == ["0000007", "0000017", "abcdef0", "abcdef1"]
    for key, note in zip(keys, [*notes[2:], *notes[:2]], strict=True):
        assert f"{note.origin}  " in next(ln for ln in listed.splitlines() if ln.startswith(key))
        shown = output_of(tilewright("db", "show", key, "--db", "similar_kernels.sqlite"))
        assert [ln.split()[1] for ln in shown.splitlines() if "digest" in ln] == [note.kernel]
    best = output_of(tilewright("db", "best", "--db", "similar_kernels.sqlite"))
    assert [line.split()[0] for line in best.splitlines()[::3]] == keys


def test_schedules_of_another_version_are_distinguished(tilewright: Tilewright) -> None:
    with Database.writing(Path("old.sqlite")) as database:
        for semantics in (1, 7):
            database.add(Key("f" * 32, "f32", "sm_90a", GPU, "gpu", semantics, "13.0"), FAST)
    rows = output_of(tilewright("db", "ls", "--db", "old.sqlite")).splitlines()[1:-1]
    assert [" gpu, semantics 7 " in row for row in rows] == [False, True]
    assert all(row.startswith("ffffff  a kernel of f32  sm_90a") for row in rows)


@pytest.mark.parametrize("asked", ["double", "DIGEST"])
def test_show(tilewright: Tilewright, db: str, kernel: loop.KernelOp, asked: str) -> None:
    name = digest(kernel)[:4] if asked == "DIGEST" else asked
    out = output_of(tilewright("db", "show", name, "--db", db))
    assert out.startswith(
        f"double(8xf32) -> 8xf32\n  digest  {digest(kernel)}\n  origin  torch.randn"
    )
    assert KERNEL.strip() in out
    assert f"{GPU} (sm_90a) by the gpu, NVRTC 13.0\n" in out
    assert "\nsm_90a by the model\n" in out
    lines = out[out.index(GPU) :].splitlines()
    fast, slow, failed = (" ".join(line.split()) for line in lines[2:5])
    assert fast.startswith("2.50 0.12 20")
    assert fast.endswith(FAST.schedule)
    assert slow.endswith(SLOW.schedule)
    assert failed.startswith("- - ")
    assert failed.endswith(f"{FAILED.schedule}: no [3] threads")


def test_best(tilewright: Tilewright, db: str) -> None:
    lines = output_of(tilewright("db", "best", "--db", db)).splitlines()
    assert lines[1].startswith(f"  2.50 us on {GPU} (sm_90a) by the gpu, NVRTC 13.0, 20")
    assert (lines[2], lines[5]) == (f"  {FAST.schedule}", f"  {SLOW.schedule}")
    assert output_of(tilewright("db", "best", "double", "--db", db)).splitlines() == lines
    gpu, model = json.loads(output_of(tilewright("db", "best", "--json", "--db", db)))
    assert (gpu["schedule"], gpu["us"], model["us"]) == (FAST.schedule, 2.5, 1.0)


def test_exports_can_be_imported(tilewright: Tilewright, db: str, tmp_path: Path) -> None:
    text = output_of(tilewright("db", "export", "--db", db))
    (tmp_path / "twice.jsonl").write_text(text + text)
    new = ["--db", str(tmp_path / "new.sqlite")]
    for changed in (4, 0):
        code, out, err = tilewright("db", "import", "twice.jsonl", *new)
        assert (code, out) == (0, "")
        assert err.startswith(f"{changed} of 8 records are new, or newer than those in ")
    assert output_of(tilewright("db", "export", *new)) == text
    assert tilewright("db", "export", "again.jsonl", *new).code == 0
    assert (tmp_path / "again.jsonl").read_text() == text


def test_a_single_measurement_is_singular(tilewright: Tilewright) -> None:
    with Database.writing(Path("one.sqlite")) as database:
        database.add(Key("f" * 32, "f32", "sm_90a", "sm_90a", "model", 1, ""), SLOW)
    listed = output_of(tilewright("db", "ls", "--db", "one.sqlite"))
    assert listed.endswith("\n1 estimate of 1 kernel in one.sqlite\n")
    merged = tilewright("db", "merge", "one.sqlite", "--db", "new.sqlite").err
    assert merged == "1 of 1 record is new, or newer than those in new.sqlite\n"


def test_lines_end_where_json_lines_do(tilewright: Tilewright, db: str) -> None:
    """Other characters that end lines of text, which problems may quote, do not end a record."""
    with Database.writing(Path(db)) as database:
        (key, *_) = [each.key for each in database.counts()]
        database.add(key, FAILED._replace(schedule="tileify", problem="a\u2028b\x85c"))
    text = output_of(tilewright("db", "export", "--db", db))
    assert tilewright("db", "export", "lines.jsonl", "--db", db).code == 0
    assert tilewright("db", "import", "lines.jsonl", "--db", "new.sqlite").code == 0
    assert output_of(tilewright("db", "export", "--db", "new.sqlite")) == text


def test_databases_are_merged(tilewright: Tilewright, db: str, tmp_path: Path) -> None:
    new = ["--db", str(tmp_path / "new.sqlite")]
    code, out, err = tilewright("db", "merge", db, db, *new)
    assert (code, out, err[:22]) == (0, "", "4 of 8 records are new")
    assert output_of(tilewright("db", "export", *new)) == output_of(
        tilewright("db", "export", "--db", db)
    )


def test_goldens_are_written_and_added_to(tilewright: Tilewright, db: str, tmp_path: Path) -> None:
    path = tmp_path / "nvidia-h100-80gb-hbm3.toml"
    for kept in ("1 golden", "1 golden"):
        code, out, err = tilewright("db", "export", "--goldens", ".", "--db", db)
        assert (code, out, err) == (0, "", f"wrote {path.name}: {kept}\n")
    content = tomllib.loads(path.read_text())
    assert (content["gpu"], content["target"]) == (GPU, "sm_90a")
    (golden,) = content["golden"]
    assert (golden["schedule"], golden["us"]) == (FAST.schedule, 2.5)
    assert (golden["origin"], golden["inputs"]) == ("torch.randn(8) * 2", ["x"])
    other = path.read_text().replace(golden["kernel"], "f" * 32)
    path.write_text(other)
    assert tilewright("db", "export", "--goldens", ".", "--db", db).err.endswith(": 2 goldens\n")
    assert [each["kernel"] for each in tomllib.loads(path.read_text())["golden"]] == sorted(
        [golden["kernel"], "f" * 32]
    )


HEAD = '{"tilewright": "measurements", "schema": 1}\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "error: 'in.jsonl' is empty"),
        ("{}\n", "in.jsonl:1: error: this is not a file of measurements (tilewright db export"),
        ("junk\n", "in.jsonl:1: error: this is not a measurement"),
        (HEAD.replace("1}", "3}"), "in.jsonl:1: error: its lines are of version 3, and this"),
        (f'{HEAD}{{"schedule": "tileify"}}\n', "in.jsonl:2: error: this is not a measurement"),
        (f"{HEAD}[]\n", "in.jsonl:2: error: this is not a measurement"),
        (f"{HEAD}{'[' * 100_000}\n", "in.jsonl:2: error: this is not a measurement"),
    ],
)
def test_files_that_are_no_export(
    tilewright: Tilewright, tmp_path: Path, text: str, complaint: str
) -> None:
    (tmp_path / "in.jsonl").write_text(text)
    code, out, err = tilewright("db", "import", "in.jsonl", "--db", "new.sqlite")
    assert (code, out) == (2, "")
    assert err.startswith(complaint)
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "change",
    [
        ("2.5", "-1"),
        ("2.5", "NaN"),
        ("2.5", f"1{'0' * 400}"),
        ("+00:00", "+"),
        ('"measured_at": ', '"measured_at": "0001-01-01T00:00+23:00", "before": '),
        ('"13.0"', "13"),
        ('"13.0"', r'"\ud800"'),
        ('"semantics": 1', f'"semantics": 1{"0" * 30}'),
        ('"semantics": 1', '"semantics": -1'),
    ],
)
def test_invalid_values(
    tilewright: Tilewright, db: str, tmp_path: Path, change: tuple[str, str]
) -> None:
    text = output_of(tilewright("db", "export", "--db", db))
    assert change[0] in text
    (tmp_path / "in.jsonl").write_text(text.replace(*change))
    code, _, err = tilewright("db", "import", "in.jsonl", "--db", "new.sqlite")
    assert code == 2
    assert "this is not a measurement" in err


def test_a_digit_that_has_changed_is_found(tilewright: Tilewright, db: str, tmp_path: Path):
    text = output_of(tilewright("db", "export", "--db", db))
    (tmp_path / "in.jsonl").write_text(text.replace("2.5", "2.4"))
    code, _, err = tilewright("db", "import", "in.jsonl", "--db", "new.sqlite")
    assert code == 2
    assert err.endswith("error: this is not a measurement: its checksum does not match\n")


def test_lines_of_the_first_version_had_no_checksums(
    tilewright: Tilewright, db: str, tmp_path: Path
) -> None:
    text = output_of(tilewright("db", "export", "--db", db))
    old = re.sub(r', "checksum": "\w+"}', "}", text).replace('"schema": 2', '"schema": 1')
    (tmp_path / "in.jsonl").write_text(old)
    assert tilewright("db", "import", "in.jsonl", "--db", "new.sqlite").code == 0
    assert output_of(tilewright("db", "export", "--db", "new.sqlite")) == text


FIELDS = {
    **{"kernel": "f" * 32, "dtype": "f32", "target": "sm_90a", "device": "sm_90a"},
    **{"evaluator": "model", "semantics": 1, "nvrtc": "", "schedule": "tileify", "us": 1.5},
    **{"problem": "", "spread_us": 0, "measured_at": "2026-01-01T01:00:00+01:00"},
}
NOTE = {"kernel": "f" * 32, "name": "f", "about": "f()", "inputs": ["x"], "origin": "", "ir": ""}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("fields", "change", "complaint"),
    [
        (FIELDS, {"us": True}, "us is true; expected a number of microseconds, at least 0"),
        (FIELDS, {"us": "1.5"}, 'us is "1.5"; expected a number'),
        (FIELDS, {"us": [1.5]}, "us is [1.5]; expected a number"),
        (FIELDS, {"spread_us": None}, "spread_us is null; expected a number"),
        (FIELDS, {"semantics": True}, "semantics is true; expected a whole number"),
        (FIELDS, {"semantics": 1.0}, "semantics is 1.0; expected a whole number"),
        (FIELDS, {"problem": None}, "problem is null; expected a text"),
        (FIELDS, {"measured_at": 2026}, "measured_at is 2026; expected a time as ISO 8601"),
        (FIELDS, {"spread": 0.5}, '"spread" is an unknown field'),
        (NOTE, {"inputs": "xy"}, 'inputs is "xy"; expected a list of texts'),
        (NOTE, {"inputs": {"x": 1}}, 'inputs is {"x": 1}; expected a list of texts'),
        (NOTE, {"inputs": ["x", None]}, 'inputs is ["x", null]; expected a list of texts'),
        (NOTE, {"name": []}, "name is []; expected a text"),
    ],
)
def test_invalid_types(
    tilewright: Tilewright, fields: dict[str, object], change: dict[str, object], complaint: str
) -> None:
    lines = [HEAD, json.dumps(FIELDS) + "\n", json.dumps(fields | change) + "\n"]
    Path("in.jsonl").write_text("".join(lines))
    code, out, err = tilewright("db", "import", "in.jsonl", "--db", "new.sqlite")
    assert (code, out) == (2, "")
    assert err.startswith(f"in.jsonl:3: error: this is not a measurement: {complaint}")
    assert not Path("new.sqlite").exists()


def test_any_other_line_is_a_clean_error(tilewright: Tilewright, db: str) -> None:
    text = output_of(tilewright("db", "export", "--db", db))
    random = Random(0)
    for _ in range(drawn(120)):
        at = random.randrange(1, text.count("\n"))
        lines = text.splitlines(keepends=True)
        lines[at] = retyped(lines[at], random) + "\n"
        Path("in.jsonl").write_text("".join(lines))
        code, _, err = tilewright("db", "import", "in.jsonl", "--db", "new.sqlite")
        assert code == 0 or (code == 2 and err.startswith(f"in.jsonl:{at + 1}: error: ")), lines[at]
        Path("in.jsonl").write_bytes(damaged(text.encode(), random))
        assert tilewright("db", "import", "in.jsonl", "--db", "new.sqlite").code in (0, 2)


@pytest.mark.parametrize(
    ("argv", "code", "complaint"),
    [
        (["ls"], 1, "there is no database '"),
        (
            ["ls", "--db", "none.sqlite"],
            1,
            "there is no database 'none.sqlite' (--db names another",
        ),
        (["merge", "none.sqlite"], 1, "there is no database 'none.sqlite'"),
        (["import", "none.jsonl"], 2, "cannot read 'none.jsonl': No such file"),
        (["show"], 2, "the following arguments are required: KERNEL"),
        (["export", "a", "--goldens", "b"], 2, "not allowed with argument"),
    ],
)
def test_mistakes(tilewright: Tilewright, argv: list[str], code: int, complaint: str) -> None:
    found, out, err = tilewright("db", *argv)
    assert (found, out) == (code, "")
    assert complaint in err


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["show", "duble"], "the database has no kernel 'duble' (did you mean double?)"),
        (["best", "xyz"], "the database has no kernel 'xyz' (tilewright db ls lists them)"),
        (["export", "--goldens", "nowhere"], "there is no folder 'nowhere'"),
    ],
)
def test_unknown_kernels_and_folders(
    tilewright: Tilewright, db: str, argv: list[str], complaint: str
) -> None:
    code, out, err = tilewright("db", *argv, "--db", db)
    assert (code, out) == (2, "")
    assert complaint in err


def test_goldens_are_of_gpus_and_expressions(tilewright: Tilewright, kernel: loop.KernelOp) -> None:
    with Database.writing(Path("some.sqlite")) as database:
        key = key_of(kernel, "sm_90a", "model")
        KernelRecords(database, kernel, key, "torch.randn(8) * 2").add(SLOW)
    code, out, err = tilewright("db", "export", "--goldens", ".", "--db", "some.sqlite")
    assert (code, out) == (1, "")
    assert "no goldens to write: a golden is a GPU's measurement of an expression" in err
