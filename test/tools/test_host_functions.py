# SPDX-License-Identifier: Apache-2.0
"""Functions that the compiler cannot lower or launch are refused with a reason and a place."""

from pathlib import Path

import pytest

from tilewright.tools.cli import main
from tilewright.tools.opt_tool import main as opt_tool

_TENSOR = "tensor<4xf32>"
_RELU = f"%y = torch.relu %x : ({_TENSOR}) -> {_TENSOR}"

FUNCTIONS = {
    "a declaration": (
        f"func.func private @main({_TENSOR}) -> {_TENSOR}",
        "@main has no body",
    ),
    "an empty body": (
        '"func.func"() <{function_type = () -> (), sym_name = "main"}> ({}) : () -> ()',
        "@main has no body",
    ),
    "a declaration beside": (
        f"func.func @main(%x: {_TENSOR}) -> {_TENSOR} {{ {_RELU} func.return %y : {_TENSOR} }}"
        f"\nfunc.func private @other({_TENSOR}) -> {_TENSOR}",
        "@other has no body",
    ),
    "two blocks": (
        f"func.func @main(%x: {_TENSOR}) -> {_TENSOR}"
        f" {{ cf.br ^a\n^a: func.return %x : {_TENSOR} }}",
        "@main has 2 blocks; launches must be in one block",
    ),
    "two blocks of buffers": (
        "func.func @main(%x: memref<4xf32>) { cf.br ^a\n^a: func.return }",
        "@main has 2 blocks; launches must be in one block",
    ),
    "a number": (
        f"func.func @main(%x: {_TENSOR}, %n: index) -> {_TENSOR} {{ func.return %x : {_TENSOR} }}",
        "@main takes or returns index, which is neither a tensor nor a buffer",
    ),
    "only a number": (
        "func.func @main(%x: f32) -> f32 { func.return %x : f32 }",
        "@main takes or returns f32, which is neither a tensor nor a buffer",
    ),
    "a tuple": (
        "func.func @main(%x: tuple<f32>) -> tuple<f32> { func.return %x : tuple<f32> }",
        "@main takes or returns tuple<f32>, which is neither a tensor nor a buffer",
    ),
    "a buffer beside a tensor": (
        f"func.func @main(%x: {_TENSOR}, %m: memref<4xf32>) -> {_TENSOR}"
        f" {{ func.return %x : {_TENSOR} }}",
        "@main takes or returns both tensors and buffers; only one kind is allowed",
    ),
    "no rank": (
        "func.func @main(%x: tensor<*xf32>) { func.return }",
        "@main takes or returns tensor<*xf32>, whose size is dynamic",
    ),
    "an open size": (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { func.return %x : tensor<?xf32> }",
        "@main takes or returns tensor<?xf32>, whose size is dynamic",
    ),
    "a buffer of an open size": (
        "func.func @main(%x: memref<?xf32>) { func.return }",
        "@main takes or returns memref<?xf32>, whose size is dynamic",
    ),
    "an open size on the way": (
        "func.func @main(%x: memref<4xf32>, %n: memref<4xf32>)"
        " { %c = arith.constant 3 : index %m = memref.alloc(%c) : memref<?xf32> func.return }",
        "'arith.constant' in @main cannot be run: it is not a launch",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("text", "reason"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_that_cannot_be_run(
    text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (path := tmp_path / "f.mlir").write_text(text)
    assert main(["run", str(path)]) == 1
    assert reason in (err := capsys.readouterr().err)
    assert f"{path}:" in err
    for passes in ("to-tensor,to-loop,to-tile,to-kernel,to-cuda", "inline-calls,plan-buffers"):
        for check in ("none", "each"):
            opt_tool([str(path), "-p", passes, "--check", check])
            assert "Traceback" not in capsys.readouterr().err


def test_a_function_that_only_calls_itself_is_refused_by_each_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    kind = "tensor<4xf32>"
    call = f"  %y = func.call @main(%x) : ({kind}) -> {kind}\n"
    text = f"func.func @main(%x: {kind}) -> {kind} {{\n{call}  func.return %y : {kind}\n}}"
    (path := tmp_path / "f.mlir").write_text(text)
    says = "error: pass 'inline-calls': @main calls itself, and would never return\n"
    for command in (["run"], ["compile"], ["compile", "--report"], ["compile", "--plan", "-"]):
        assert main([*command, str(path)]) == 1
        assert capsys.readouterr() == ("", f"{path}:2:3: {says}")


def test_calls_of_functions_without_kernels_are_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    kind = "tensor<4xf32>"
    call = f"%y = func.call @same(%x) : ({kind}) -> {kind} func.return %y : {kind}"
    same = f"func.func private @same(%x: {kind}) -> {kind} {{ func.return %x : {kind} }}"
    text = f"func.func @main(%x: {kind}) -> {kind} {{ {call} }}\n{same}"
    (path := tmp_path / "f.mlir").write_text(text)
    assert main(["compile", "--ir", "kernel", str(path)]) == 0
    assert "@same" not in capsys.readouterr().out
    assert main(["compile", "--plan", "-", str(path)]) == 0
    assert capsys.readouterr().err == ""
