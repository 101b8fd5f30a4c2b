# SPDX-License-Identifier: Apache-2.0
"""The cost of kernels, counted from IR, compared with numbers computed by hand."""

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import get_all_dialects
from tilewright.dialects.target import target
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.cost.ledger import cost, ledger
from tilewright.passes.cost.live_registers import ALLOWANCE
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes

H100 = target("sm_90a")

MATMUL = """
loop.kernel @matmul(%x: memref<64x32xf32>, %w: memref<32x48xf32>) -> (%out: memref<64x48xf32>) {
  loop.for %i in 64, %j in 48 {
    %acc = loop.reduce %k in 32 with add {
      %0 = loop.load %x[%i, %k] : memref<64x32xf32>
      %1 = loop.load %w[%k, %j] : memref<32x48xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %acc, %out[%i, %j] : memref<64x48xf32>
  }
}
"""


def parse(text: str) -> ModuleOp:
    context = Context()
    for name, factory in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def after(text: str, pipeline: str) -> ModuleOp:
    module = parse(text)
    for step in parse_pipeline(pipeline, available_passes()):
        step.apply(Context(), module)
    return module


def only(module: ModuleOp) -> KernelCost:
    (launch,) = cost(module).launches
    return launch


def line(before: ModuleOp, then: ModuleOp) -> str:
    return ledger(cost(before), cost(then), H100)


def test_a_matmul_touches_each_buffer_once_and_rereads_its_operands():
    found = only(parse(MATMUL))
    assert found.flops == 2 * 64 * 48 * 32
    assert found.global_bytes == 4 * (64 * 32 + 32 * 48 + 64 * 48)
    assert found.accessed_bytes == 4 * (2 * 64 * 48 * 32 + 64 * 48)
    assert found.occupancy(H100) is None


def test_no_level_changes_the_work_of_a_matmul():
    loop_ir = only(parse(MATMUL))
    for pipeline in ("tileify", "tileify,blockify-launch{m=16 n=16}"):
        tile_ir = only(after(MATMUL, pipeline))
        kernel_ir = only(after(MATMUL, f"{pipeline},convert-tile-to-kernel,canonicalize,cse"))
        for found in (tile_ir, kernel_ir):
            assert found.flops == loop_ir.flops
            assert found.global_bytes == loop_ir.global_bytes
            assert found.accessed_bytes == loop_ir.accessed_bytes
        assert (tile_ir.blocks, tile_ir.threads) == (kernel_ir.blocks, kernel_ir.threads)


def test_masked_accesses_count_where_the_mask_holds():
    text = """
    loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
      loop.for %i in 1000 {
        %0 = loop.load %x[%i] : memref<1000xf32>
        loop.store %0, %out[%i] : memref<1000xf32>
      }
    }"""
    found = only(after(text, "tileify,blockify-launch{n=128}"))
    assert (found.blocks, found.threads) == (8, 128)
    assert found.accessed_bytes == found.global_bytes == 2 * 4000


def test_an_access_touches_the_elements_its_subscripts_reach():
    text = """
    loop.kernel @part(%x: memref<64x100xf32>, %b: memref<7xf32>) -> (%out: memref<50xf32>) {
      loop.for %i in 50 {
        %0 = loop.load %x[3, %i * 2] : memref<64x100xf32>
        %1 = loop.load %b[%i mod 5] : memref<7xf32>
        %2 = arith.addf %0, %1 : f32
        loop.store %2, %out[%i] : memref<50xf32>
      }
    }"""
    assert only(parse(text)).global_bytes == 4 * (50 + 5 + 50)


ROW_SUM = """
loop.kernel @sum(%x: memref<32x{n}xf32>) -> (%out: memref<32xf32>) {{
  loop.for %i in 32 {{
    %s = loop.reduce %k in {n} with add {{
      %0 = loop.load %x[%i, %k] : memref<32x{n}xf32>
      loop.yield %0 : f32
    }} : f32
    loop.store %s, %out[%i] : memref<32xf32>
  }}
}}
"""


def test_a_gather_touches_no_more_rows_than_it_has_indices():
    gather = parse("""
    loop.kernel @k(%ids: memref<10xi64>, %x: memref<4096x64xf32>) -> (%out: memref<10x64xf32>) {
      loop.for %i in 10, %j in 64 {
        %0 = loop.load %ids[%i] : memref<10xi64>
        %one = arith.constant 1 : i64
        %1 = arith.addi %0, %one : i64
        %row = loop.to_index %1 below 4096 : i64
        %2 = loop.load %x[%row, %j] : memref<4096x64xf32>
        loop.store %2, %out[%i, %j] : memref<10x64xf32>
      }
    }""")
    assert only(gather).global_bytes == 10 * 8 + 2 * 10 * 64 * 4


def test_a_scan_joins_at_every_step():
    scan = """
    loop.kernel @k(%x: memref<10x64xf32>) -> (%out: memref<10x64xf32>) {
      loop.for %i in 10 {
        loop.scan %k in 64 {
          %0 = loop.load %x[%i, %k] : memref<10x64xf32>
          %s = loop.prefix %0 with add : f32
          loop.store %s, %out[%i, %k] : memref<10x64xf32>
        }
      }
    }"""
    assert only(parse(scan)).flops == 10 * 64
    assert only(after(scan, "tileify,convert-tile-to-kernel")).flops == 10 * 64


@pytest.mark.parametrize(
    ("threads", "rows", "smem", "barriers"),
    [
        (32, 1, 0, 0),
        (32, 4, 0, 0),
        (256, 1, 32, 1),
        (64, 2, 16, 1),
        (100, 1, 400, 1),
        (24, 4, 384, 1),
    ],
)
def test_a_combine_costs_as_much_as_its_lowering(threads: int, rows: int, smem: int, barriers: int):
    text = ROW_SUM.format(n=1000)
    pipeline = f"tileify,cooperative-reduce{{threads={threads} rows={rows}}}"
    tile_ir = only(after(text, pipeline))
    kernel_ir = only(after(text, f"{pipeline},convert-tile-to-kernel,cse"))
    for found in (tile_ir, kernel_ir):
        assert (found.shared_bytes, found.barriers) == (smem, barriers)
        # each element of the rows once, and one store a row by its first thread
        assert found.accessed_bytes == pytest.approx(4 * (32 * 1000 + 32))


STAGED = """
loop.kernel @staged(%x: memref<64x64xf32>) -> (%out: memref<64x64xf32>) {{
  tile.launch (%b = block 4, %t = thread 64) {{
    %s = loop.reduce %ko in 4 with add {{
      %slab = tile.stage (%i, %j) in [16, 16] {{
        %0 = loop.load %x[%b * 16 + %i, %ko * 16 + %j] : memref<64x64xf32>
        loop.yield %0 : f32
      }} : memref<16x16xf32, 3 : i64>
      %p = loop.reduce %ki in 16 with add {{
        %1 = loop.load %slab[{subscript}] : memref<16x16xf32, 3 : i64>
        loop.yield %1 : f32
      }} : f32
      loop.yield %p : f32
    }} : f32
    loop.for %c in 16 {{
      loop.store %s, %out[%t, %b * 16 + %c] : memref<64x64xf32>
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("subscript", "factor"),
    [
        ("%t mod 16, %ki", 8.0),  # 16 words apart: two banks for sixteen rows
        ("%ki, %t mod 16", 1.0),  # side by side, and lane 16 reads lane 0's word
        ("0, 0", 1.0),  # one word for all
        ("%t mod 8 * 2, %t floordiv 8", 8.0),
    ],
)
def test_stages_and_bank_conflicts(subscript: str, factor: float):
    text = STAGED.format(subscript=subscript)
    tile_ir = only(parse(text))
    kernel_ir = only(after(text, "convert-tile-to-kernel,cse"))
    for found in (tile_ir, kernel_ir):
        assert found.shared_bytes == 16 * 16 * 4
        assert found.barriers == 8
        # each block stages its sixteen rows once
        assert found.accessed_bytes == 4 * (64 * 64 + 4 * 64 * 16)
        assert found.global_bytes == 2 * 4 * 64 * 64
    # Two warps read 16 times for each of 16 fills, and fill each slab in 4 wavefronts each. Tile IR
    # counts these accesses as vectors, which the lowering makes later.
    for found in (tile_ir, only(after(text, "to-kernel"))):
        assert found.wavefronts == 16 * 2 * (16 * factor + 4)
        assert found.ideal_wavefronts == 16 * 2 * (16 + 4)


def test_a_register_tile_holds_its_accumulators():
    text = """
    loop.kernel @mm(%x: memref<512x64xf32>, %w: memref<64x16xf32>) -> (%out: memref<512x16xf32>) {
      tile.launch (%b = block 2 m, %t = thread 32 m, %r = register 8 m, %c = register 16 n) {
        %acc = loop.reduce %k in 64 with add {
          %0 = loop.load %x[%b * 256 + %t * 8 + %r, %k] : memref<512x64xf32>
          %1 = loop.load %w[%k, %c] : memref<64x16xf32>
          %2 = arith.mulf %0, %1 : f32
          loop.yield %2 : f32
        } : f32
        loop.store %acc, %out[%b * 256 + %t * 8 + %r, %c] : memref<512x16xf32>
      }
    }"""
    found = only(parse(text))
    # accumulators, one column of x and one row of w, the indices of block, thread and step
    assert found.registers == 8 * 16 + 8 + 16 + 3 + ALLOWANCE
    kernel_ir = only(after(text, "convert-tile-to-kernel,cse"))
    assert kernel_ir.registers == found.registers + 1  # the value on its way to its array
    # a thread loads eight elements of x and sixteen of w in each of 64 steps
    assert found.accessed_bytes == 4 * (64 * 64 * (8 + 16) + 512 * 16)
    assert found.flops == 2 * 512 * 16 * 64


def test_the_line_lists_only_changes():
    text = ROW_SUM.format(n=2048)
    tiled = after(text, "tileify")
    assert line(tiled, tiled) == "ledger: no change in cost"
    assert line(tiled, after(text, "tileify,cooperative-reduce{threads=256}")) == (
        "ledger: smem 0 -> 32 B, barriers 0 -> 1, threads 1 -> 256, registers 20 -> 21, "
        "occupancy 32 -> 8 blocks/SM"
    )


def test_values_known_only_afterwards_have_no_arrow():
    text = ROW_SUM.format(n=2048)
    assert line(parse(text), after(text, "tileify")) == (
        "ledger: blocks 32, threads 1, occupancy 32 blocks/SM"
    )


def test_kernels_count_as_often_as_they_are_launched():
    text = """
    func.func @main(%a: memref<1024xf32>, %b: memref<1024xf32>) {
      loop.launch @copy(%a) -> (%b) : (memref<1024xf32>) -> (memref<1024xf32>)
      loop.launch @copy(%b) -> (%a) : (memref<1024xf32>) -> (memref<1024xf32>)
      func.return
    }
    loop.kernel @copy(%x: memref<1024xf32>) -> (%out: memref<1024xf32>) {
      loop.for %i in 1024 {
        %0 = loop.load %x[%i] : memref<1024xf32>
        loop.store %0, %out[%i] : memref<1024xf32>
      }
    }"""
    nothing = ModuleOp([])
    assert line(nothing, parse(text)).startswith("ledger: kernels 0 -> 2, global 0 B -> 16 KiB,")
    # two launches of 2 us and 8 KiB each at 3.35 TB/s
    assert line(nothing, parse(text)).endswith("estimate 0.00 -> 4.00 us")


def test_a_module_without_kernels_has_no_costs():
    assert line(ModuleOp([]), ModuleOp([])) == "ledger: no kernels yet"
