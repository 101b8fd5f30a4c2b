# SPDX-License-Identifier: Apache-2.0
r"""
Functions by which a warpgroup starts a multiplication, one for each number of columns.

    template <int transposed_a, int transposed_b>
    __device__ __forceinline__ void group_multiply_m64n8k16_bf16(
        float *d, unsigned long long a, unsigned long long b) {
      asm volatile("{\n"
          ...
          "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {"
          "%0, %1, %2, %3"
          "}, %4, %5, add, 1, 1, %6, %7;\n"
          "}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "l"(a), "l"(b), "n"(transposed_a), "n"(transposed_b));
    }

The sums are operands that the instruction reads and writes: four for each eight columns.
"""

from collections.abc import Iterable, Iterator

from tilewright.dialects.cuda.matrices import GroupMultiplyOp


def group_functions(ops: Iterable[GroupMultiplyOp]) -> Iterator[str]:
    """Yield the lines of the functions that `ops` call, each after an empty line."""
    called = {op.function: op for op in ops}
    for name, op in called.items():
        yield ""
        yield from _function(name, op)


def _function(name: str, op: GroupMultiplyOp) -> Iterator[str]:
    shape, _, element = name.removeprefix("group_multiply_").partition("_")
    columns, k = op.columns.value.data, op.instruction.data.fragments.k
    sums = columns // 2
    yield f"// Starts to add a, 64 x {k}, times b, {k} x {columns}, to d, of which a thread holds"
    yield "// 4 elements for each 8 columns. K of a transposed factor is not innermost in memory."
    yield "// PTX ISA, wgmma (sm_90a)."
    yield "template <int transposed_a, int transposed_b>"
    yield f"__device__ __forceinline__ void {name}("
    yield "    float *d, unsigned long long a, unsigned long long b) {"
    yield r'  asm volatile("{\n"'
    yield r'      "  .reg .pred add;\n"'
    yield r'      "  setp.eq.u32 add, 0, 0;\n"'
    yield f'      "  wgmma.mma_async.sync.aligned.{shape}.f32.{element}.{element} {{"'
    yield from (f'      "{row}"' for row in _rows([f"%{at}" for at in range(sums)], 16))
    yield rf'      "}}, %{sums}, %{sums + 1}, add, 1, 1, %{sums + 2}, %{sums + 3};\n"'
    yield '      "}"'
    first, *others = _rows([f'"+f"(d[{at}])' for at in range(sums)], 6)
    yield f"      : {first}"
    yield from (f"        {row}" for row in others)
    yield '      : "l"(a), "l"(b), "n"(transposed_a), "n"(transposed_b));'
    yield "}"


def _rows(items: list[str], per_row: int) -> Iterator[str]:
    """Yield the items in rows, with commas between all of them."""
    for first in range(0, len(items), per_row):
        row = ", ".join(items[first : first + per_row])
        yield f"{row}," if first + per_row < len(items) else row
