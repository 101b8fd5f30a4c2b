# SPDX-License-Identifier: Apache-2.0
"""The Python API: `capture`, `lower`, `interpret`, `compile`, and calls of compiled programs."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from needs import needs_nvrtc
from torch import nn

import tilewright
from tilewright.errors import TilewrightError, UsageError


def affine(x: torch.Tensor, scale: float, *, shift: torch.Tensor) -> dict[str, Any]:
    """Return a nested result, part of which is no tensor."""
    return {"y": x * scale + shift, "rest": (x, 3)}


def example(*shape: int) -> torch.Tensor:
    """Return random numbers, the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def program() -> tilewright.CompiledProgram:
    """Compiled program of `affine`."""
    return tilewright.compile(affine, example(4, 6), 0.5, kwargs={"shift": example(6)})


def test_threads_may_capture_at_the_same_time():
    """PyTorch traces one program at a time; other threads wait."""

    def captured(factor: int) -> str:
        def function(x: torch.Tensor) -> torch.Tensor:
            return x * factor + factor

        return str(tilewright.capture(function, example(4)).module)

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(captured, range(3))] == [*map(captured, range(3))]


@needs_nvrtc
def test_tensors_give_tensors(program: tilewright.CompiledProgram):
    x, shift = example(4, 6) + 1, example(6)
    result = program(x, 0.5, shift=shift)
    torch.testing.assert_close(result["y"], x * 0.5 + shift)
    assert result["rest"][1] == 3
    assert torch.equal(result["rest"][0], x)


@needs_nvrtc
def test_arrays_give_arrays(program: tilewright.CompiledProgram):
    x, shift = example(4, 6).numpy(), example(6).numpy()
    result = program(x, 0.5, shift=shift)
    assert type(result["y"]) is np.ndarray
    np.testing.assert_allclose(result["y"], x * 0.5 + shift, rtol=1e-6)


@needs_nvrtc
def test_sizes_among_the_results_are_sizes():
    """PyTorch's own tree functions return tuples in place of sizes."""

    def sizes(x: torch.Tensor) -> dict[str, Any]:
        return {"y": x + 1, "sizes": [x.size(), x[0].shape, (x.size(1),)]}

    x = example(4, 6)
    found = tilewright.compile(sizes, x)(x)["sizes"]
    assert found == [(4, 6), (6,), (6,)]
    assert [*map(type, found)] == [torch.Size, torch.Size, tuple]


X, SHIFT = example(4, 6), {"shift": example(6)}

MISCALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "shape": ((example(4, 7), 0.5), SHIFT, r"\[0\] is float32\[4, 7\], but .*\[4, 6\]"),
    "dtype": ((X.double(), 0.5), SHIFT, r"\[0\] is float64\[4, 6\], but .*float32\[4, 6\]"),
    "value": ((X, 0.25), SHIFT, r"\[1\] is baked in as 0.5, and cannot be 0.25"),
    "count": ((X, 0.5), {}, r"for the arguments \(Tensor, float, shift=Tensor\), not \(Tensor, "),
    "nesting": (([X], 0.5), SHIFT, r"not \(\[Tensor\], float, shift=Tensor\)"),
    "keys": (({"x": X}, 0.5), SHIFT, r"not \({'x': Tensor}, float, shift=Tensor\)"),
    "array for a number": ((X, X.numpy()), SHIFT, r"\[1\] is baked in as 0.5, and cannot be array"),
    "kind": ((2.0, 0.5), SHIFT, "must be a tensor or array, not float"),
    "layout": ((X.to_sparse(), 0.5), SHIFT, r"\[0\] has the layout sparse_coo \(call to_dense"),
}


@pytest.mark.parametrize("miscall", MISCALLS)
def test_calls_must_be_like_the_example(miscall: str, program: tilewright.CompiledProgram):
    args, kwargs, error = MISCALLS[miscall]
    with pytest.raises(UsageError, match=error):
        program(*args, **kwargs)


@needs_nvrtc
def test_a_tensor_that_is_negated_lazily_is_taken_as_what_it_stands_for():
    x = torch.complex(example(4), example(4)).conj().imag
    assert x.is_neg()
    assert torch.equal(tilewright.compile(torch.abs, example(4))(x), x.abs())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_program_is_not_copied(copied: Callable[[Any], Any], program: Any):
    with pytest.raises(UsageError, match="neither copied nor pickled"):
        copied(program)


def test_a_program_describes_itself(program: tilewright.CompiledProgram):
    (kernel,) = program.kernels
    assert f"void __launch_bounds__({kernel.block}) {kernel.kernel}(" in program.cuda_source
    assert program.schedule[kernel.kernel].startswith("tileify,")
    assert "torch.mul" in program.ir("torch")
    assert "tile.launch" in program.ir("tile")
    with pytest.raises(UsageError, match=r"unknown level 'tiel' \(did you mean tile"):
        program.ir("tiel")


@needs_nvrtc
def test_a_module_runs_with_its_parameters():
    module = nn.Sequential(nn.Linear(6, 5), nn.ReLU())
    x = example(3, 6)
    compiled = tilewright.compile(module, x)
    torch.testing.assert_close(compiled(x), module(x).detach())
    with torch.no_grad():
        module[0].bias.zero_()  # pyright: ignore
    torch.testing.assert_close(compiled(x), module(x).detach())
    module.load_state_dict(nn.Sequential(nn.Linear(6, 5)).state_dict())
    torch.testing.assert_close(compiled(x), module(x).detach())


@needs_nvrtc
@pytest.mark.skipif(torch.__version__ < "2.13", reason="PyTorch cannot export it")
def test_a_number_that_is_no_number_is_baked_in():
    nan = float("nan")
    compiled = tilewright.compile(torch.mul, example(3), nan)
    assert compiled(example(3), nan).isnan().all()


def numbers(values: Any) -> list[Any]:
    """Return the elements of a tensor or an array."""
    return values.tolist()


class Counter(nn.Module):
    """Module that counts its calls, and writes to its input."""

    def __init__(self):
        super().__init__()
        self.count: torch.Tensor
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        x.mul_(2)
        return x + self.count


@needs_nvrtc
def test_what_is_written_in_place_is_written():
    module = Counter()
    compiled = tilewright.compile(module, torch.ones(2))
    assert numbers(module.count) == [0, 0]
    x = torch.ones(2)
    assert [numbers(compiled(x)), numbers(compiled(x))] == [[3, 3], [6, 6]]
    assert (numbers(x), numbers(module.count)) == ([4, 4], [2, 2])
    array = np.ones(2, np.float32)
    assert numbers(compiled(array)) == [5, 5]
    assert numbers(array) == [2, 2]
    array.flags.writeable = False
    with pytest.raises(UsageError, match="writes to its input 'x', which is read-only"):
        compiled(array)


def test_interpreting_a_capture_writes_in_place():
    captured = tilewright.capture(Counter(), torch.ones(2))
    count, x = np.zeros(2, np.float32), torch.ones(2)
    (result,) = tilewright.interpret(captured, count, x)
    assert (numbers(result), numbers(count), numbers(x)) == ([3, 3], [1, 1], [2, 2])
    results = tilewright.interpret(captured.module, count, x)
    assert [numbers(r) for r in results] == [[2, 2], [4, 4], [6, 6]]
    assert (numbers(count), numbers(x)) == ([1, 1], [2, 2])
    with pytest.raises(UsageError, match="is a list and cannot be written"):
        tilewright.interpret(captured, [0.0, 0.0], x)


@needs_nvrtc
def test_an_exported_program_is_compiled():
    program = torch.export.export(nn.LayerNorm(6).eval(), (example(4, 6),))
    for compiled in (tilewright.compile(program), tilewright.compile(program, example(4, 6))):
        x = example(4, 6) + 1
        torch.testing.assert_close(compiled(x), nn.LayerNorm(6)(x).detach())


def test_levels_mean_the_same():
    captured = tilewright.capture(nn.Softmax(-1), example(4, 9))
    expected = torch.softmax(example(4, 9), -1).numpy()
    for level in ("torch", "tensor", "loop", "tile", "kernel"):
        lowered = tilewright.lower(captured.module, level, target="sm_90a")
        (result,) = tilewright.interpret(lowered, example(4, 9))
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_what_cannot_be_interpreted():
    captured = tilewright.capture(nn.Linear(3, 2), example(4, 3))
    tensors = [input.tensor for input in captured.inputs]
    (result,) = tilewright.interpret(captured, *tensors)
    assert result.shape == (4, 2)
    with pytest.raises(UsageError, match="CUDA IR has no interpreter"):
        tilewright.interpret(tilewright.lower(captured, "cuda"), *tensors)
    with pytest.raises(UsageError, match="not a module of IR, but str"):
        tilewright.interpret(str(captured.module))  # pyright: ignore[reportArgumentType]


def test_lowering_does_not_change_the_module():
    captured = tilewright.capture(torch.exp, example(4))
    before = str(captured.module)
    lowered = tilewright.lower(captured.module, "loop")
    assert str(captured.module) == before
    with pytest.raises(UsageError, match="at loop level already"):
        tilewright.lower(lowered, "tensor")
    with pytest.raises(UsageError, match="unknown target"):
        tilewright.lower(captured.module, "loop", target="sm_0")


def test_arrays_can_be_captured():
    captured = tilewright.capture(torch.exp, np.zeros(4, np.float32))
    assert "tensor<4xf32>" in str(captured.module)


def test_fake_tensors_compile_and_do_not_run():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        module, x = nn.Linear(3, 2), torch.randn(4, 3)
    compiled = tilewright.compile(module, x)
    assert "__global__" in compiled.cuda_source
    with pytest.raises(UsageError, match="'weight' is a fake tensor"):
        compiled(example(4, 3))


@needs_nvrtc
def test_a_call_within_a_mode_of_fake_tensors_computes_real_ones():
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = torch.ones(4)
    with FakeTensorMode():
        found = tilewright.compile(torch.neg, x, device="sim")(x)
    assert found.tolist() == [-1.0] * 4


def test_what_cannot_be_compiled_is_an_error_at_once():
    with pytest.raises(TilewrightError, match="not supported"):
        tilewright.compile(torch.sort, example(4))
    with pytest.raises(UsageError, match="unknown device 'tpu'"):
        tilewright.compile(torch.exp, example(4), device="tpu")


def test_no_other_names_are_public():
    with pytest.raises(AttributeError, match="no attribute 'compyle'"):
        tilewright.compyle  # pyright: ignore
    assert set(tilewright.__all__) <= set(dir(tilewright))


@pytest.mark.parametrize("word", ["highest", "high", "medium"])
def test_the_precision_is_part_of_the_ir(word: str):
    """PyTorch's own setting is not read."""
    x, images = example(4, 4), example(1, 2, 4, 4)

    def both(x: torch.Tensor, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x @ x, torch.nn.functional.conv2d(images, images)

    torch.set_float32_matmul_precision("medium")
    try:
        module = tilewright.capture(both, x, images, matmul_precision=word).module
        default = tilewright.capture(both, x, images).module
    finally:
        torch.set_float32_matmul_precision("highest")
    conv = "highest" if word == "highest" else "high"
    named = {"torch.matmul_precision": word, "torch.conv_precision": conv}
    expected = {name: value for name, value in named.items() if value != "highest"}
    assert {name: str(value) for name, value in module.attributes.items()} == {
        name: f'"{value}"' for name, value in expected.items()
    }
    assert not default.attributes


@needs_nvrtc
def test_a_program_in_a_lower_precision():
    x, w = example(8, 16), example(16, 8)
    program = tilewright.compile(torch.matmul, x, w, matmul_precision="medium")
    rounded = x.bfloat16().float() @ w.bfloat16().float()
    torch.testing.assert_close(program(x, w), rounded)
    assert (program(x, w) - x @ w).abs().max() > 1e-4
    assert "fastmath<afn>" in program.ir("loop")
