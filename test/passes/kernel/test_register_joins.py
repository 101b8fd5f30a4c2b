# SPDX-License-Identifier: Apache-2.0
"""
Joins of a score and sums that depend on different axes: Kernel IR in the interpreter and NVRTC's
code in the simulator, with all checks, compared with Tile IR.
"""

from collections.abc import Callable, Mapping
from math import inf

import numpy as np
import pytest
from needs import needs_nvrtc
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import kernel, loop
from tilewright.dialects.types import memref_type
from tilewright.interpreters import interpret
from tilewright.passes.rewriting.launching import with_main

pytestmark = needs_nvrtc

Parse = Callable[[str], ModuleOp]

# Scores of rows, and values of rows and columns: each block has some of the scores of all rows.
BLOCKS = """
loop.kernel @k(%x: memref<BLOCKSx16xf32>, %y: memref<BLOCKSx16xCOLUMNSxf32>)
    -> (%out: memref<16xCOLUMNSxf32>, %most: memref<16xf32>) {
  %one = arith.constant 1.0 : f32
  tile.launch (%s = block BLOCKS split, %tm = thread TM, %tn = thread TN,
               %vm = register VM, %un = register UN, %vn = register 2) {
    %0 = loop.load %x[%s, %tm * VM + %vm] : memref<BLOCKSx16xf32>
    %1 = loop.load %y[%s, %tm * VM + %vm, %un * (TN * 2) + %tn * 2 + %vn]
      : memref<BLOCKSx16xCOLUMNSxf32>
    %m, %l, %o = tile.combine %0, %one, %1 across %s with softmax MASK join(JOIN) : f32, f32, f32
    %2 = arith.divf %o, %l : f32
    loop.store %2, %out[%tm * VM + %vm, %un * (TN * 2) + %tn * 2 + %vn] : memref<16xCOLUMNSxf32>
    loop.store %m, %most[%tm * VM + %vm] where [0 - %tn] : memref<16xf32>
  }
}"""

# Scores of rows that threads along %k share, and values of rows and columns.
THREADS = """
loop.kernel @k(%x: memref<2x2xSxWxf32>, %y: memref<2x2xSxWx3xf32>)
    -> (%out: memref<2x2x3xf32>, %most: memref<SCORESxf32>) {
  %one = arith.constant 1.0 : f32
  tile.launch (%b = block 2, AXES, %vm = register 2, %vk = register W, %vn = register 3) {
    %0 = loop.load %x[%b, ROW, %k, %vk] : memref<2x2xSxWxf32>
    %1 = loop.load %y[%b, %vm, %k, %vk, %vn] : memref<2x2xSxWx3xf32>
    %m, %l, %o = tile.combine %0, %one, %1 across %k, %vk with softmax
      where [LAST - %k - %vk] : f32, f32, f32
    %2 = arith.divf %o, %l : f32
    loop.store %2, %out[%b, %vm, %vn] where [0 - %k] : memref<2x2x3xf32>
    loop.store %m, %most[MOST] where [0 - %k] : memref<SCORESxf32>
  }
}"""


def given(text: str, values: Mapping[str, object]) -> str:
    """Return `text` with each name replaced by its value, longer names first."""
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(name, str(values[name]))
    return text


def inputs_of(parse: Parse, text: str) -> list[Array]:
    """Return random inputs of the kernel; the first block of a row has scores of minus infinity."""
    (source,) = parse(text).ops
    assert isinstance(source, loop.KernelOp)
    draw = np.random.default_rng(0)
    shapes = [memref_type(value).get_shape() for value in source.inputs]
    found = [draw.standard_normal(shape, np.float32) * 4 for shape in shapes]
    found[0][0, 1] = -inf
    return found


def check(parse: Parse, text: str, target: str = "sm_90a") -> ModuleOp:
    """Assert that all levels compute what Tile IR does, and return the module at Kernel IR."""
    inputs = inputs_of(parse, text)
    expected = interpret(parse(text), *inputs, function="k", dtype=np.float64)
    module = lower(with_main(parse(text)), "kernel", target)
    lowered = interpret(module, *inputs)
    execution = SimulatorBackend(target).run(
        plan_of(lower(with_main(parse(text)), "cuda", target)), inputs
    )
    assert not execution.problems
    for right, one, other in zip(expected, lowered, execution.results, strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other, right, rtol=1e-5, atol=1e-6)
    return module


def shared_shapes(module: ModuleOp) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays in shared memory."""
    arrays = [op for op in module.walk() if isinstance(op, kernel.SharedOp)]
    return [memref_type(op.memref).get_shape() for op in arrays]


TILES = {
    "registers": {"BLOCKS": 4, "TM": 8, "TN": 4, "VM": 2, "UN": 4},
    "rows": {"BLOCKS": 3, "TM": 4, "TN": 8, "VM": 4, "UN": 3},
    "threads": {"BLOCKS": 2, "TM": 16, "TN": 4, "VM": 1, "UN": 1},
    "one block": {"BLOCKS": 5, "TM": 8, "TN": 4, "VM": 2, "UN": 1},
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("join", ["cluster", "last_block", "workspace"])
@pytest.mark.parametrize("name", TILES)
def test_blocks(name: str, join: str, parse: Parse) -> None:
    tile = TILES[name]
    more = {"COLUMNS": 2 * tile["TN"] * tile["UN"], "JOIN": join, "MASK": ""}
    module = check(parse, given(BLOCKS, {**tile, **more}))
    if join == "cluster":
        rows, *_, whole = sorted(shared_shapes(module), key=np.prod)
        assert np.prod(rows) == 16
        assert np.prod(whole) == 16 * more["COLUMNS"]


def test_masked_blocks(parse: Parse) -> None:
    more = {"COLUMNS": 32, "JOIN": "cluster", "MASK": "where [%s + %vm - 1]"}
    check(parse, given(BLOCKS, {**TILES["registers"], **more}))


@pytest.mark.parametrize("join", ["last_block", "workspace"])
def test_targets_without_clusters(join: str, parse: Parse) -> None:
    more = {"COLUMNS": 32, "JOIN": join, "MASK": ""}
    check(parse, given(BLOCKS, {**TILES["registers"], **more}), "sm_80")


# The threads of a block share each row.
ACROSS = {
    "shuffles": {"S": 8, "AXES": "%k = thread 8"},
    "warps": {"S": 64, "AXES": "%k = thread 64"},
    "shared memory": {"S": 24, "AXES": "%k = thread 24"},
}

# Scores vary along the register axis %vm, or only the values do.
SCORES = {
    "rows": {"ROW": "%vm", "MOST": "%b, %vm", "SCORES": "2x2"},
    "one row": {"ROW": "0", "MOST": "%b", "SCORES": "2"},
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("name", ACROSS)
def test_threads(name: str, width: int, scores: str, parse: Parse) -> None:
    case = ACROSS[name]
    sizes = {"W": width, "LAST": int(case["S"]) + width - 3}
    check(parse, given(THREADS, {**case, **SCORES[scores], **sizes}))


@pytest.mark.parametrize("name", TILES)
def test_each_row_has_its_weights_once(name: str, parse: Parse) -> None:
    tile = TILES[name]
    more = {"COLUMNS": 2 * tile["TN"] * tile["UN"], "JOIN": "last_block", "MASK": ""}
    module = lower(with_main(parse(given(BLOCKS, {**tile, **more}))), "kernel")
    for op in module.walk():
        if isinstance(op, math.ExpOp):
            around = op.parent_op()
            steps = around.axis_extents() if isinstance(around, kernel.UnrollOp) else ()
            assert np.prod(steps) == tile["VM"]
