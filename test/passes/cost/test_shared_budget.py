# SPDX-License-Identifier: Apache-2.0
"""The estimated shared memory of a launch equals that of its kernel's arrays."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import capture, lower
from tilewright.codegen.host_function import plan_of
from tilewright.dialects import kernel, tile
from tilewright.frontend.expression import parse_expression
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.shared_budget import shared_bytes, shared_bytes_at_once
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes
from tilewright.passes.rewriting.launching import with_main

from ..tile.kernels.references import FOLDER

Parse = Callable[[str], ModuleOp]

LOWERING = parse_pipeline("split-joins,convert-tile-to-kernel", available_passes())


def assert_agrees(module: ModuleOp) -> None:
    """Assert that the estimates of the launches equal the arrays they are lowered to."""
    launches = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    estimated = [shared_bytes(launch) for launch in launches]
    at_once = [shared_bytes_at_once(launch, {}) for launch in launches]
    assert at_once == [kernel_cost(launch.kernel).shared_bytes for launch in launches]
    PassManager(context()).run(module, LOWERING)
    functions = [op for op in module.walk() if isinstance(op, kernel.FuncOp)]
    assert estimated == [kernel_cost(function).shared_bytes for function in functions]


# A workspace splits one kernel into two.
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir") if "workspace" not in path.stem)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", NAMES)
def test_kernels_written_by_hand(parse: Parse, name: str):
    assert_agrees(parse((FOLDER / f"{name}.mlir").read_text()))


@pytest.mark.parametrize("name", ["matmul_split_k", "matmul_join_cluster"])
def test_joined_values_take_the_place_of_slabs(parse: Parse, name: str):
    module = with_main(parse((FOLDER / f"{name}.mlir").read_text()))
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    needed = shared_bytes_at_once(launch, {})
    (kernel,) = plan_of(lower(module, "cuda")).launches
    assert kernel.shared_bytes <= needed < shared_bytes(launch)


def test_weights_that_lanes_hold_take_no_shared_memory():
    text = (
        "q = torch.randn(2, 64, 64, dtype=torch.bfloat16); F.scaled_dot_product_attention(q, q, q)"
    )
    parsed = parse_expression(text)
    module = lower(capture(parsed.module, *parsed.args), "tile", "sm_80", db=False)
    assert any(isinstance(op, tile.ShareOp) for op in module.walk())
    assert_agrees(module)


# Slots are aligned to 128 bytes: three slots of 33 floats take 480 bytes, not 396.
RING = """
loop.kernel @k(%x: memref<132xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 4 with add {
      %xs = tile.stage (%i) in [33] RING {
        %0 = loop.load %x[%ko * 33 + %i] : memref<132xf32>
        loop.yield %0 : f32
      } : memref<33xf32, 3 : i64>
      %1 = loop.load %xs[%t] : memref<33xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}"""


@pytest.mark.parametrize("ring", ["", "ring(depth 3)", "ring(depth 3) transport(cp_async)"])
def test_slots(parse: Parse, ring: str):
    assert_agrees(parse(RING.replace("RING", ring)))


# Threads across warps, and threads that do not fill warps, for two values in registers each.
COMBINES = """
loop.kernel @k(%x: memref<2x96x2xf32>) -> (%out: memref<2x2xf32>, %where: memref<2x2xi64>) {
  tile.launch (%b = block 2, %t = thread THREADS, %u = thread MORE, %v = register 2) {
    %0 = loop.load %x[%b, %t * MORE + %u, %v] : memref<2x96x2xf32>
    %1 = loop.index [%t] : i64
    %m, %i = tile.combine %0, %1 across %t with argmax : f32, i64
    loop.store %m, %out[%b, %v] where [0 - %t, 0 - %u] : memref<2x2xf32>
    loop.store %i, %where[%b, %v] where [0 - %t, 0 - %u] : memref<2x2xi64>
  }
}"""


@pytest.mark.parametrize(("threads", "more"), [(96, 1), (48, 2), (24, 4), (32, 3)])
def test_combines(parse: Parse, threads: int, more: int):
    text = COMBINES.replace("THREADS", str(threads)).replace("MORE", str(more))
    assert_agrees(parse(text))


# Rows of 32 columns: a maximum and a sum for each of 16 rows, and a sum for each element.
ROWS = """
loop.kernel @k(%x: memref<4x16xf32>, %y: memref<4x16x32xf32>) -> (%out: memref<16x32xf32>) {
  %one = arith.constant 1.0 : f32
  tile.launch (%s = block 4 split, %tm = thread 8, %tn = thread 4,
               %vm = register 2, %un = register 4, %vn = register 2) {
    %0 = loop.load %x[%s, %tm * 2 + %vm] : memref<4x16xf32>
    %1 = loop.load %y[%s, %tm * 2 + %vm, %un * 8 + %tn * 2 + %vn] : memref<4x16x32xf32>
    %m, %l, %o = tile.combine %0, %one, %1 across %s with softmax join(cluster) : f32, f32, f32
    %2 = arith.divf %o, %l : f32
    loop.store %2, %out[%tm * 2 + %vm, %un * 8 + %tn * 2 + %vn] : memref<16x32xf32>
  }
}"""


def test_sums_of_a_cluster_have_one_score_for_each_row(parse: Parse):
    module = parse(ROWS)
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    assert shared_bytes(launch) == 4 * (16 + 16 + 16 * 32)
    assert_agrees(module)
