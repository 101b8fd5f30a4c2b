# SPDX-License-Identifier: Apache-2.0
"""Kernels that spill request fewer blocks, with a remark; other kernels are unchanged."""

import re
from collections.abc import Callable
from unittest.mock import Mock

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.codegen import nvrtc
from tilewright.codegen.printer import Bodies, cuda_source, kernels_of
from tilewright.codegen.report.resources import parse_resources
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects.target import target
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Listener, Rule, listening

Parse = Callable[[str], ModuleOp]

pytestmark = needs_nvrtc


def outer_product(min_blocks: int, size: int) -> str:
    """Return a kernel whose threads add up `size` x `size` products each, in registers."""
    matrix = f"memref<{size}x{size}xf32, 5>"
    return f"""
      kernel.func grid 1 block 256 min_blocks {min_blocks} @k(%x: memref<100x{size}xf32>)
          -> (%out: memref<256x{size}x{size}xf32>) {{
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %n = arith.constant 100 : index
        %zero = arith.constant 0.0 : f32
        %acc = kernel.registers : {matrix}
        kernel.unroll %i in {size}, %j in {size} {{
          loop.store %zero, %acc[%i, %j] : {matrix}
        }}
        scf.for %k = %c0 to %n step %c1 {{
          kernel.unroll %i in {size}, %j in {size} {{
            %a = loop.load %x[%k, %i] : memref<100x{size}xf32>
            %b = loop.load %x[%k, %j] : memref<100x{size}xf32>
            %c = loop.load %acc[%i, %j] : {matrix}
            %d = math.fma %a, %b, %c : f32
            loop.store %d, %acc[%i, %j] : {matrix}
          }}
        }}
        kernel.unroll %i in {size}, %j in {size} {{
          %c = loop.load %acc[%i, %j] : {matrix}
          loop.store %c, %out[%t, %i, %j] : memref<256x{size}x{size}xf32>
        }}
      }}"""


class Remarks(Listener[None]):
    """Listener that keeps all remarks."""

    def __init__(self) -> None:
        self.kept = list[str]()

    def look(self, scope: object) -> None:
        """Keep nothing of the kernel."""

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Keep a choice of the compiler."""
        self.kept.append(f"{rule} {site}: {reason}")


def compiled(parse: Parse, text: str) -> tuple[str, list[str]]:
    """Return the CUDA text and the remarks on spills."""
    remarks = Remarks()
    with listening(remarks):
        lowered = lower_to_cuda(parse(text), "sm_90a")
    return cuda_source(lowered), [r for r in remarks.kept if "spill" in r]


def spills(source: str) -> bool:
    """True if the only kernel spills."""
    (resources,) = parse_resources(nvrtc.compile_cubin(source, "sm_90a").log).values()
    return resources.spills


def test_a_kernel_that_spills_asks_for_less(parse: Parse):
    # 100 sums per thread, but 3 blocks of 256 threads leave 80 registers for each
    source, remarks = compiled(parse, outer_product(3, 10))
    assert "__launch_bounds__(256, 2)" in source
    assert not spills(source)
    assert spills(source.replace("(256, 2)", "(256, 3)"))
    (remark,) = remarks
    assert remark.startswith("c:002_spill_feedback k: ")
    assert remark.endswith("bytes spilled with registers for 3 blocks: 2 now")


def test_a_kernel_that_does_not_spill_stays_as_it_is(parse: Parse):
    source, remarks = compiled(parse, outer_product(3, 5))
    assert "__launch_bounds__(256, 3)" in source
    assert not remarks


def test_the_last_choice_is_one_block(parse: Parse):
    # 400 sums do not fit into the 255 registers that a thread may have
    source, remarks = compiled(parse, outer_product(3, 20))
    assert "__launch_bounds__(256, 1)" in source
    (remark,) = remarks
    assert remark.endswith("bytes spilled with registers for 3 blocks: 1 now")


def test_few_of_many_block_counts_are_compiled(parse: Parse, monkeypatch: pytest.MonkeyPatch):
    compile_cubin = Mock(wraps=nvrtc.compile_cubin)
    monkeypatch.setattr(nvrtc, "compile_cubin", compile_cubin)
    text = outer_product(32, 10).replace("block 256", "block 32").replace("256x", "32x")
    source, _ = compiled(parse, text)
    found = re.search(r"__launch_bounds__\(32, (\d+)\)", source)
    assert found is not None
    assert not spills(source)
    assert int(found[1]) > 8  # as good as one block
    assert compile_cubin.call_count <= 1 + 3 + 1  # first, three of 31, and one above


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("threads", "blocks"), [(32, 18), (96, 7), (128, 7), (128, 2)])
def test_registers_given_to_a_thread(parse: Parse, threads: int, blocks: int):
    # 400 sums take all available registers; warps are given registers in groups of four
    text = outer_product(blocks, 20).replace("block 256", f"block {threads}")
    source = cuda_source(lower(parse(text.replace("256x", f"{threads}x")), Level.CUDA))
    (resources,) = parse_resources(nvrtc.compile_cubin(source, "sm_90a").log).values()
    assert resources.registers == target("sm_90a").registers_given(threads, blocks)


def test_bodies_are_printed_once(parse: Parse):
    lowered = lower(parse(outer_product(4, 4)), Level.CUDA)
    (op,) = kernels_of(lowered)
    bodies: Bodies = {}
    whole = cuda_source(lowered, bodies=bodies)
    assert whole == cuda_source(lowered)
    assert "\n".join(bodies[op]) in whole
    op.properties["min_blocks"] = IntegerAttr(2, i64)
    fewer = cuda_source(lowered, bodies=bodies)
    assert fewer == cuda_source(lowered) == whole.replace("(256, 4) k(", "(256, 2) k(")
    assert fewer != whole
    bodies[op] = ["  // printed before"]
    assert cuda_source(lowered, bodies=bodies).endswith("{\n  // printed before\n}\n")
