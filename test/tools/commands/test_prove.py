# SPDX-License-Identifier: Apache-2.0
"""`tilewright prove`: its table, its evidence, its certificates and its exit codes."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from proved import KERNELS, changed

from tilewright.proof import solver

from ..conftest import Tilewright

COPY = """\
loop.kernel @copy(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%b = block 9, %t = thread 4) {
    %0 = loop.load %x[%b * 4 + %t] where [32 - %b * 4 - %t] : memref<33xf32>
    loop.store %0, %out[%b * 4 + %t] where [32 - %b * 4 - %t] : memref<33xf32>
  }
}
"""


def test_a_program_is_proved(tilewright: Tilewright):
    code, out, err = tilewright("prove", "-c", "torch.randn(5, 7) @ torch.randn(7, 3)", "--same")
    assert (code, err) == (0, "")
    head, row, _, verdict = out.splitlines()
    assert head.split() == "kernel obligations proved refuted unknown not covered".split()
    name, number, *counts = row.split()
    assert (name, counts) == ("matmul", [number, "0", "0"])
    assert verdict == "1 of 1 kernel proved"


def test_a_refutation_has_its_op_and_a_point(tilewright: Tilewright, tmp_path: Path):
    wrong = changed(COPY, "where [32 - %b * 4 - %t]", "where [35 - %b * 4 - %t]")
    (tmp_path / "wrong.mlir").write_text(wrong)
    code, out, err = tilewright("prove", "wrong.mlir", "--json", "proof.json")
    assert (code, out.splitlines()[2:]) == (1, ["", "0 of 1 kernel proved"])
    assert err.splitlines() == [
        "wrong.mlir:3:5: error: @copy: bounds of load from %x refuted",
        "  %0 = loop.load %x[%b * 4 + %t] where [35 - %b * 4 - %t] : memref<33xf32>",
        "  %b = 8, %t = 1, subscript 0 = 33",
        "wrote proof.json",
    ]
    content = json.loads((tmp_path / "proof.json").read_text())
    assert (content["schema"], content["proved"]) == (1, False)
    (kernel,) = content["kernels"]
    assert kernel["obligations"][-1]["outcome"] == "proved"


def test_what_is_not_covered_is_not_proved(tilewright: Tilewright, tmp_path: Path):
    text = changed(
        COPY, "    loop.store", "    %m = memref.alloc() : memref<4xf32>\n    loop.store"
    )
    (tmp_path / "alloc.mlir").write_text(text)
    code, out, _ = tilewright("prove", "alloc.mlir")
    assert code == 1
    assert "1 memref.alloc" in out.splitlines()[1]
    assert out.endswith("\n0 of 1 kernel proved\n")


NEST = """\
loop.kernel @copy(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  loop.for %i in 33 {
    %0 = loop.load %x[%i] : memref<33xf32>
    loop.store %0, %out[%i] : memref<33xf32>
  }
}
"""


def test_values_of_a_kernel_are_compared_with_its_nest(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "copy.mlir").write_text(NEST)
    code, out, err = tilewright("prove", "copy.mlir", "--same", "--json", "proof.json")
    assert (code, err) == (0, "wrote proof.json\n")
    (proved,) = json.loads((tmp_path / "proof.json").read_text())["kernels"]
    same = {"kind": "same", "subject": "values of %out", "outcome": "proved"}
    assert proved["obligations"][-1] == same
    assert out.endswith("1 of 1 kernel proved\n")


def test_tile_ir_has_no_nest_to_compare_with(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "copy.mlir").write_text(COPY)
    code, _, err = tilewright("prove", "copy.mlir", "--same")
    assert (code, err) == (2, "error: --same compares with Loop IR, and the file is Tile IR\n")


def test_json_on_stdout(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "copy.mlir").write_text(COPY)
    code, out, err = tilewright("prove", "copy.mlir", "--json", "-")
    assert code == 0
    assert json.loads(out)["proved"]
    assert err.endswith("1 of 1 kernel proved\n")


REVERSE = Path(__file__).parents[3] / "examples" / "reverse.mlir"


def test_a_file_of_kernel_ir_is_proved(tilewright: Tilewright, tmp_path: Path):
    code, out, err = tilewright("prove", str(REVERSE))
    assert (code, err) == (0, "")
    assert out.endswith("1 of 1 kernel proved\n")
    wrong = changed(REVERSE.read_text(), "kernel.barrier", "kernel.warp_barrier")
    (tmp_path / "wrong.mlir").write_text(wrong)
    code, _, err = tilewright("prove", "wrong.mlir")
    assert (code, err.splitlines()) == (
        1,
        [
            "wrong.mlir:9:3: error: @reverse: race of write to %row and read of %row refuted",
            "  %0 = loop.load %row[63 - %t] : memref<64xf32, 3 : i64>",
            "  %block = 0, %thread = 31, %thread' = 32, subscript 0 = 31",
        ],
    )


def test_kernel_ir_has_no_nest_to_compare_with(tilewright: Tilewright):
    code, _, err = tilewright("prove", str(REVERSE), "--same")
    assert (code, err) == (2, "error: --same compares with Loop IR, and the file is Kernel IR\n")


def test_kernel_ir_has_no_tile_ir_for_its_indices(tilewright: Tilewright):
    code, _, err = tilewright("prove", str(REVERSE), "--indices")
    message = "--indices is about kernels made of Tile IR, and the file is Kernel IR"
    assert (code, err) == (2, f"error: {message}\n")


def test_kernel_ir_is_proved_on_request(tilewright: Tilewright, tmp_path: Path):
    path = KERNELS / "matmul_join_workspace.mlir"
    assert tilewright("prove", str(path), "--kernel", "--json", "proof.json")[0] == 0
    (proved,) = json.loads((tmp_path / "proof.json").read_text())["kernels"]
    kinds = Counter(each["kind"] for each in proved["obligations"])
    assert {"race", "ring", "reached", "int", "aligned"} <= {*kinds}
    assert {each["outcome"] for each in proved["obligations"]} == {"proved"}


def test_a_level_below_kernel_is_an_error(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "copy.mlir").write_text(COPY)
    assert tilewright("compile", "copy.mlir", "--ir", "cuda", "-o", "cuda.mlir").code == 0
    code, _, err = tilewright("prove", "cuda.mlir")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: 'cuda.mlir' is CUDA: ")


def test_a_program_without_kernels(tilewright: Tilewright):
    assert tilewright("prove", "-c", "torch.randn(4)") == (
        0,
        "no kernels: nothing is computed\n",
        "",
    )


def test_index_arithmetic_is_proved_on_request(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "copy.mlir").write_text(NEST)
    code, out, _ = tilewright("prove", "copy.mlir", "--indices", "--json", "proof.json")
    assert code == 0
    assert out.endswith("1 of 1 kernel proved\n")
    (proved,) = json.loads((tmp_path / "proof.json").read_text())["kernels"]
    subject = "index arithmetic of copy in CUDA"
    assert proved["obligations"][-1] == {"kind": "int", "subject": subject, "outcome": "proved"}


def test_both_parts_of_a_kernel_have_index_arithmetic(tilewright: Tilewright, tmp_path: Path):
    path = KERNELS / "matmul_join_workspace.mlir"
    assert tilewright("prove", str(path), "--indices", "--json", "proof.json")[0] == 0
    (proved,) = json.loads((tmp_path / "proof.json").read_text())["kernels"]
    subjects = [each["subject"] for each in proved["obligations"] if each["kind"] == "int"]
    assert subjects == [
        f"index arithmetic of relu_addmm_{part} in CUDA" for part in ("partials", "join")
    ]


def test_without_z3_the_error_names_the_extra(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "z3", None)
    solver.load_z3.cache_clear()
    code, out, err = tilewright("prove", "-c", "torch.randn(4) + 1")
    solver.load_z3.cache_clear()
    remedy = "pip install 'tilewright[prove]'"
    assert (code, out, err) == (2, "", f"error: proofs need the solver z3 ({remedy})\n")
