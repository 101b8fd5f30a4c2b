# SPDX-License-Identifier: Apache-2.0
"""
Bugs planted in whole kernels are found, and the kernels themselves have no findings.

`tilewright simcheck` runs these checks. Here each kernel has only its quick bugs, and half of the
quick bugs planted by rule; --every-case runs all bugs.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen import nvrtc
from tilewright.codegen.mutations import mutations
from tilewright.dialects import kernel
from tilewright.errors import UsageError
from tilewright.tools.cli import main
from tilewright.tools.commands.simcheck import FOLDERS, QUICK, check_by_rule
from tilewright.tools.planted_bugs.finders import Finders, machine_code
from tilewright.tools.planted_bugs.hand_written_case import Mutant, load_case, run_case
from tilewright.tools.planted_bugs.input_sets import TURNS
from tilewright.tools.planted_bugs.planted import load_kernel, mutants, planted

KERNELS = Path(__file__).parent / "kernels"
BY_RULE = {
    path: target
    for folder, target in FOLDERS.items()
    for path in sorted((Path(__file__).parent / Path(folder).name).glob("*.mlir"))
}
ALIKE = {
    "batched_matmul_tma",
    "matmul_bias",
    "matmul_tensor_computed",
    "matmul_tensor_nt_tma",
    "matmul_tensor_split_last",
    "matmul_tensor_tf32x3",
    "matmul_tensor_tn_async",
}
"""Kernels that run only with --every-case, because others have the same kinds of bugs."""

CASES = {path.stem: load_case(path) for path in sorted(KERNELS.glob("*.toml"))}
PLANTED = [(name, mutant) for name, case in CASES.items() for mutant in case.mutants]


def test_there_are_enough_bugs_and_each_has_a_name_of_its_own():
    assert len(PLANTED) >= 120
    assert len({(name, mutant.what) for name, mutant in PLANTED}) == len(PLANTED)
    assert all(any(mutant.quick for mutant in case.mutants) for case in CASES.values())


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", CASES)
def test_the_kernel_is_right_and_clean(name: str):
    outcome = run_case(CASES[name])
    assert not outcome.found, outcome.report
    assert outcome.error <= CASES[name].tolerance


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "mutant"), PLANTED, ids=[f"{name}: {mutant.what}" for name, mutant in PLANTED]
)
def test_the_bug_is_found(name: str, mutant: Mutant, request: pytest.FixtureRequest):
    if not mutant.quick and not request.config.getoption("--every-case"):
        request.getfixturevalue("every_case")
    outcome = run_case(CASES[name], mutant)
    assert mutant.finds in outcome.found, outcome


@pytest.mark.one_in(8)
@needs_nvrtc
@pytest.mark.parametrize("path", BY_RULE, ids=lambda path: path.stem)
def test_bugs_planted_by_rule_are_found(path: Path, request: pytest.FixtureRequest):
    every = bool(request.config.getoption("--every-case"))
    if path.stem in ALIKE and not every:
        request.getfixturevalue("every_case")
    kernel = load_kernel(path, TURNS if every else 1, BY_RULE[path])
    result = check_by_rule(kernel, mutants(kernel)[:: 1 if every else 2 * QUICK])
    assert not result.problems
    assert result.planted >= (19 if every else 1)


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("path", BY_RULE, ids=lambda path: path.stem)
def test_equivalent_mutants_are_planted_and_not_found(path: Path, request: pytest.FixtureRequest):
    kernel = load_kernel(path, 1, BY_RULE[path])
    places = {place for entry in kernel.equivalent for place in entry.places}
    named = [m for m in planted(kernel) if m.place in places]
    assert {mutant.place for mutant in named} == places
    if not named or not request.config.getoption("--every-case"):
        return
    finders = Finders(kernel)
    for mutant in named:
        outcome = finders.run(mutant)
        assert outcome is not None
        assert not outcome.is_found, mutant.place


@needs_nvrtc
def test_rules_cover_synchronisation_and_masks():
    kernels = [load_kernel(path, target=target) for path, target in BY_RULE.items()]
    bugs = {mutant.place.bug for kernel in kernels for mutant in mutants(kernel)}
    assert bugs >= {
        "dropped",
        "moved behind what follows",
        "lets one more fill be pending",
        "for the fill after",
        "only for each warp",
        "for a warp more",
        "one id for all",
        "memref in the slot after",
        "condition 0 lost",
        "skipped",
        "always taken",
        "no barrier of the warp",
        "the other parity",
        "more bytes",
        "an arrival less",
        "no fence after making barriers",
        "no swizzle",
        "only the block waits",
        "its own memory",
        "all share a counter",
        "no fence",
        "counts in two steps",
        "arrives without a release",
        "transposed or not",
        "rows of two lanes exchanged",
        "two matrices exchanged",
        "as in the first step",
        "fragment of A after",
        "fragment of D after",
        "another array for B",
        "twice the factor",
        "rows 16 bytes aside",
        "half a step of k",
        "registers 0 and 1 of A swapped",
        "registers of B swapped",
        "matrices not transposed",
    }


_NAMED = """extern "C" __global__ void k(int* y, int n) {
  const int phase = n / 3 % 2;
  if (n < 5) {
    if (threadIdx.x == 0) y[0] = phase ^ 1;
  }
}"""


@needs_nvrtc
def test_texts_are_the_same_if_the_machine_runs_the_same_code():
    line = "  const int phase = n / 3 % 2;\n"
    inline = _NAMED.replace(line, "").replace("phase", "(n / 3 % 2)")
    texts = _NAMED, inline, _NAMED.replace("n / 3", "n / 5")
    code, of_inline, of_other = (machine_code(text, "sm_90a") for text in texts)
    assert nvrtc.compile(_NAMED).ptx != nvrtc.compile(inline).ptx
    assert code == of_inline != of_other


_RING = """
kernel.func grid 1 block 32 @k(%a: memref<STEPSx32xf32>) -> (%b: memref<32xf32>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<2, cp_async>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant STEPS : index
  scf.for %ko = %zero to %steps step %one {
    kernel.ring_wait %ring, %ko pending 0 : !kernel.ring<2, cp_async>
    %next = kernel.index [%ko + 1]
    %rest = loop.predicate [STEPS - 1 - %next] : i1
    scf.if %rest {
      kernel.ring_acquire %ring, %next : !kernel.ring<2, cp_async>
      kernel.copy_async %a[%next, %t] to %s[%next mod 2, %t] width 1 :
        memref<STEPSx32xf32>, memref<2x32xf32, #tile.layout<slots>, 3 : i64>
    }
    kernel.ring_commit %ring, %next : !kernel.ring<2, cp_async>
    kernel.ring_release %ring, %ko : !kernel.ring<2, cp_async>
  }
}
"""


@pytest.mark.parametrize(("steps", "is_bug"), [(2, False), (3, True)])
def test_slots_are_waited_for_and_released_if_they_are_filled_again(
    steps: int, is_bug: bool, parse: Callable[[str], ModuleOp]
):
    module = parse(_RING.replace("STEPS", f"{steps}"))
    wait = next(op for op in module.walk() if isinstance(op, kernel.RingWaitOp))
    assert ("moved behind what follows" in {bug.what for bug in mutations(wait)}) is is_bug
    release = next(op for op in module.walk() if isinstance(op, kernel.RingReleaseOp))
    assert bool([*mutations(release)]) is is_bug


def test_a_mutant_that_does_not_fit_is_named():
    with pytest.raises(UsageError, match="the mutant 'none' does not fit its kernel"):
        Mutant("none", "no such text", "", "race").planted("void k() {}")


_CASE = """
kernel = "k"
grid = 1
block = 32
reference = "x * 2"
argument = [ { name = "x", input = [32] }, { name = "y", output = [32] } ]
[[mutant]]
what = "too far"
old = "[i]"
new = "[i + 1]"
finds = "out-of-bounds"
quick = true
[[mutant]]
what = "a factor"
old = "2"
new = "FACTOR"
finds = "race"
"""


def _folder(tmp_path: Path, factor: str) -> str:
    (tmp_path / "double.toml").write_text(_CASE.replace("FACTOR", factor))
    (tmp_path / "double.cu").write_text(
        'extern "C" __global__ void k(const float* x, float* y) {\n'
        "  int i = threadIdx.x;\n  y[i] = 2 * x[i];\n}\n"
    )
    return str(tmp_path)


def test_the_command_reports_what_it_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["simcheck", _folder(tmp_path, "3")]) == 1
    out, err = capsys.readouterr()
    assert "2 bugs planted, 1 found; problems: 1\n" in out
    assert err == "error: double: 'a factor' should be found as race, not as wrong\n"


def test_the_quick_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["simcheck", "--quick", _folder(tmp_path, "3")]) == 0
    assert "1 bugs planted, all found; no false alarms\n" in capsys.readouterr().out


def test_a_folder_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["simcheck", str(tmp_path)]) == 2
    assert "there are no kernels to check" in capsys.readouterr().err


_STORE = """
loop.kernel @double(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32 k) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}
"""

_STALE = """
[[double]]
line = "loop.store %0, %out[%u] : memref<32xf32>"
bugs = ["dropped"]
why = "its line has changed"
"""


def _by_rule(tmp_path: Path, equivalent: str) -> str:
    (tmp_path / "double.mlir").write_text(_STORE)
    (tmp_path / "equivalent.toml").write_text(equivalent)
    return str(tmp_path)


@needs_nvrtc
def test_an_entry_that_names_no_mutant_is_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["simcheck", _by_rule(tmp_path, _STALE)]) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert error == (
        "error: double: equivalent.toml names 'dropped' in 'loop.store %0, %out[%u] : "
        "memref<32xf32>', which is not planted; the nearest line with this bug is 'loop.store "
        "%0, %out[%t] : memref<32xf32>'"
    )


@needs_nvrtc
def test_an_entry_takes_its_mutant_out(tmp_path: Path):
    folder = _by_rule(tmp_path, _STALE.replace("%u", "%t"))
    kernel = load_kernel(Path(folder) / "double.mlir")
    without = {mutant.place for mutant in mutants(kernel)}
    (place,) = {mutant.place for mutant in planted(kernel)} - without
    assert str(place) == "'dropped' in 'loop.store %0, %out[%t] : memref<32xf32>'"


@needs_nvrtc
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[double]]\nline = 3", r"cannot understand an entry of \[\[double\]\]"),
        ("[[double", "error: Expected"),
    ],
)
def test_a_table_that_cannot_be_understood(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["simcheck", _by_rule(tmp_path, text)]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert "equivalent.toml: error: " in error


@needs_nvrtc
def test_mutants_have_names_of_their_own():
    for path in [*BY_RULE][:2]:
        places = [mutant.place for mutant in planted(load_kernel(path))]
        assert len(set(places)) == len(places)
