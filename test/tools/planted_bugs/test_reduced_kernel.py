# SPDX-License-Identifier: Apache-2.0
"""Kernels reduced to smaller sizes: the same nest, masks and schedule, with arrays that fit."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import loop
from tilewright.errors import UnsupportedError
from tilewright.interpreters import interpret
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.tools.cli import main
from tilewright.tools.planted_bugs.reduced_kernel import (
    MATRIX_STEPS,
    MOST_STEPS,
    reduced,
    steps_of,
)
from tilewright.tools.planted_bugs.scheduled_kernels import scheduled_kernels

TARGET = "sm_90a"

MATMUL = """
loop.kernel @mm(%a: memref<1x512x2048xf32>, %b: memref<2048x1024xf32>)
    -> (%out: memref<1x512x1024xf32>) {
  loop.for %i in 512, %j in 1024 {
    %sum = loop.reduce %k in 2048 with add {
      %0 = loop.load %a[0, %i, %k] : memref<1x512x2048xf32>
      %1 = loop.load %b[%k, %j] : memref<2048x1024xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[0, %i, %j] : memref<1x512x1024xf32>
  }
}
"""

HALVES = """
loop.kernel @mm(%a: memref<128x2048xbf16>, %b: memref<2048x1024xbf16>)
    -> (%out: memref<128x1024xbf16>) {
  loop.for %i in 128, %j in 1024 {
    %sum = loop.reduce %k in 2048 with add {
      %0 = loop.load %a[%i, %k] : memref<128x2048xbf16>
      %1 = loop.load %b[%k, %j] : memref<2048x1024xbf16>
      %2 = arith.extf %0 : bf16 to f32
      %3 = arith.extf %1 : bf16 to f32
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    %5 = arith.truncf %sum : f32 to bf16
    loop.store %5, %out[%i, %j] : memref<128x1024xbf16>
  }
}
"""

NORM = """
loop.kernel @norm(%x: memref<128x2048xf32>) -> (%out: memref<128x2048xf32>) {
  loop.for %i in 128 {
    %sum = loop.reduce %k in 2048 with add {
      %0 = loop.load %x[%i, %k] : memref<128x2048xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 2048 {
      %1 = loop.load %x[%i, %j] : memref<128x2048xf32>
      %2 = arith.mulf %1, %sum : f32
      loop.store %2, %out[%i, %j] : memref<128x2048xf32>
    }
  }
}
"""

HEADS = """
loop.kernel @heads(%q: memref<128x2048xf32>, %k: memref<128x256xf32>, %table: memref<500x64xf32>,
    %ids: memref<128xi64>) -> (%out: memref<32x128x64xf32>) {
  loop.for %h in 32, %i in 128, %d in 64 {
    %0 = loop.load %q[%i, %h * 64 + %d] : memref<128x2048xf32>
    %1 = loop.load %k[%i, %h floordiv 8 * 64 + %d] where [31 - %d] : memref<128x256xf32>
    %2 = loop.load %ids[%i] : memref<128xi64>
    %3 = loop.to_index %2 below 500 : i64
    %4 = loop.load %table[%3, %d] : memref<500x64xf32>
    %5 = arith.addf %0, %1 : f32
    %6 = arith.addf %5, %4 : f32
    loop.store %6, %out[%h, %i, %d] : memref<32x128x64xf32>
  }
}
"""

CAUSAL = """
loop.kernel @causal(%x: memref<8x512x512xf32>) -> (%out: memref<8x512x512xf32>) {
  loop.for %h in 8, %i in 512, %j in 512 {
    %0 = loop.load %x[%h, %i, %j] where [%i - %j] : memref<8x512x512xf32>
    loop.store %0, %out[%h, %i, %j] : memref<8x512x512xf32>
  }
}
"""


def _module(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def _kernel(module: ModuleOp) -> loop.KernelOp:
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return kernel


@cache
def _schedule_of(text: str) -> str:
    return _schedule(_module(text))


def _schedule(module: ModuleOp) -> str:
    schedule = _kernel(lower(module, Level.TILE, target=TARGET)).schedule
    assert schedule is not None
    return schedule.data


def _planned(text: str) -> tuple[list[str], str]:
    """Return the types of a reduced kernel's arrays, and the schedule of the full one."""
    schedule = _schedule_of(text)
    module = reduced(_kernel(_module(text)), schedule, TARGET)
    assert _schedule(module) == schedule
    _assert_runs(module)
    return [str(value.type) for value in _kernel(module).body.block.args], schedule


def _assert_runs(module: ModuleOp) -> None:
    """
    Assert that accesses lie within their arrays and that every element of a result is written.
    """
    types = [str(value.type) for value in _kernel(module).inputs]
    for result in interpret(module, *map(_ones, types)):
        assert np.isfinite(result).all()


def _ones(type: str) -> NDArray[Any]:
    *shape, element = type.removeprefix("memref<").removesuffix(">").split("x")
    return np.ones([int(size) for size in shape], np.int64 if element == "i64" else np.float32)


def test_a_sum_has_chunks_for_each_split_and_tiles_overrun():
    types, schedule = _planned(MATMUL)
    assert "blockify-launch{m=64 n=64}" in schedule
    assert "chunk-matmul-k{bk=64},split-matmul-k{factor=2 join=cluster}" in schedule
    assert "double-buffer{depth=3}" in schedule
    # 72 is a tile of 64 and 8; 520 is 2 blocks with four chunks of 64 each, and 8.
    assert types == ["memref<1x72x520xf32>", "memref<520x72xf32>", "memref<1x72x72xf32>"]


SPLIT_MATRICES = (
    "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=8 join=cluster},"
    "blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 fk=1 min_blocks=2},tensor-core{instr=m16n8k16_bf16},"
    "double-buffer{depth=3},tma-copy{slabs=as,bs},split-inner-for-swizzle{width=128 slabs=as,bs},"
    "pipeline-k-outer{lookahead=2},mark-unroll{limit=16}"
)


def test_kernels_with_matrix_instructions_may_have_more_steps():
    module = reduced(_kernel(_module(HALVES)), SPLIT_MATRICES, TARGET)
    assert MOST_STEPS < steps_of(_kernel(module)) <= MATRIX_STEPS * MOST_STEPS


def test_rows_of_a_reduction_stay_and_are_fewer():
    types, schedule = _planned(NORM)
    assert "cooperative-reduce{threads=2048" in schedule
    assert types == ["memref<10x2048xf32>", "memref<10x2048xf32>"]


def test_strides_quotients_and_masks_keep_their_meaning():
    types, _ = _planned(HEADS)
    # %d is compared with a constant; heads come in groups of 8, of 64 elements each.
    heads = int(types[4].removeprefix("memref<").partition("x")[0])
    assert heads % 8 == 0
    assert types[0].endswith(f"x{64 * heads}xf32>")
    assert types[1].endswith(f"x{8 * heads}xf32>")
    assert types[2] == "memref<40x64xf32>"


def test_sizes_that_a_mask_compares_stay_equal():
    types, _ = _planned(CAUSAL)
    _, rows, columns = types[0].removeprefix("memref<").removesuffix("xf32>").split("x")
    assert rows == columns


def test_a_schedule_that_fits_no_sizes_is_refused():
    schedule = _schedule_of(MATMUL).replace("bk=64", "bk=4096")
    with pytest.raises(UnsupportedError, match="kernel 'mm' has no smaller sizes"):
        reduced(_kernel(_module(MATMUL)), schedule, TARGET)


SUITE = {
    "cases": [
        {
            "name": f"softmax.{model}.s{tokens}",
            "op": "softmax",
            "expression": "F.softmax(t0, dim=-1)",
            "input_shapes": [[1, heads, tokens, tokens]],
            "input_notes": "all inputs torch.randn",
            "dtype": "float32",
            "seq_len": tokens,
            "flops": 0,
            "min_bytes": 0,
            "floor_us_h100": 0.0,
        }
        for model, heads in (("tinyllama", 32), ("qwen", 28))
        for tokens in (128, 512)
    ]
}


def test_kernels_of_a_suite_are_taken_once(tmp_path: Path):
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps(SUITE))
    found = scheduled_kernels((), [str(suite)], "", TARGET)
    assert not found.refused
    assert {kernel.name: kernel.others for kernel in found.kernels} == {
        f"softmax.tinyllama.s{tokens}: softmax": [f"softmax.qwen.s{tokens}: softmax"]
        for tokens in (128, 512)
    }


@needs_nvrtc
def test_the_command_takes_a_suite_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    suite, results = tmp_path / "suite.json", tmp_path / "results.json"
    suite.write_text(json.dumps(SUITE))
    command = ["simcheck", str(suite), "--only", "s512", "--mutants", "2", "--json", str(results)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("softmax.tinyllama.s512: softmax        2      2  ")
    first = json.loads(results.read_text())
    assert first["totals"] == {
        "kernels": 1,
        "planted": 2,
        "found": 2,
        "without effect": 0,
        "problems": 0,
    }
    (kernel,) = first["kernels"]
    assert kernel["facts"]["also"] == ["softmax.qwen.s512: softmax"]
    assert kernel["facts"]["shapes"] == ["memref<1x2x16x512xf32>"] * 2
    # Results in the file are not computed again, even if no time is left.
    assert main([*command, "--stop-after", "0.000001"]) == 0
    assert json.loads(results.read_text())["kernels"] == first["kernels"]
    capsys.readouterr()
    assert main([*command, "--seed", "9", "--stop-after", "0.000001"]) == 0
    assert "1 kernel left" in capsys.readouterr().out


def test_a_filter_that_matches_no_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps(SUITE))
    assert main(["simcheck", str(suite), "--only", "matmul"]) == 2
    assert "no kernel has 'matmul' in its name" in capsys.readouterr().err
