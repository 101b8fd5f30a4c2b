# SPDX-License-Identifier: Apache-2.0
"""Cubins that are joined for one process of nvdisasm."""

import pytest
from needs import needs_nvdisasm, needs_nvrtc

from tilewright.codegen import nvrtc
from tilewright.codegen.report import disassemble
from tilewright.codegen.report.disassemble import disassemble_each
from tilewright.codegen.report.joined_cubins import Section, joined, parsed
from tilewright.codegen.report.sass import parse_sass

LOOP = """__device__ float twice(float x) { return x + x * x; }

extern "C" __global__ void loop(float *y, const float *x, int n) {
  __shared__ float s[128];
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = twice(x[i * 128 + threadIdx.x]);
    __syncthreads();
    y[i] += s[(threadIdx.x * 7) % 128];
  }
}"""
SLOW_PATH = """extern "C" __global__ void divide(double *y, const double *x) {
  if (x[1] > 0) y[threadIdx.x] = x[threadIdx.x] / y[threadIdx.x];
}"""
CALLED = """extern "C" __device__ int printf(const char *, ...);
__device__ int calls[4];
__device__ __noinline__ float square(float x) { return x * x; }

extern "C" __global__ void first(float *y) { *y = square(*y); }

extern "C" __global__ void second(float *y) {
  float (*f)(float) = square;
  calls[2] += 1;
  if (*y > 0) printf("%f", f(*y));
}"""

pytestmark = [needs_nvrtc, needs_nvdisasm]


def cubin(source: str) -> bytes:
    """Return the machine code of a CUDA text."""
    return nvrtc.compile_cubin(source).cubin


def test_the_code_is_the_same_as_one_by_one(monkeypatch: pytest.MonkeyPatch):
    cubins = [cubin(LOOP), cubin(SLOW_PATH), cubin(CALLED), cubin(LOOP)]
    expected = [parse_sass(disassemble.disassemble(each)) for each in cubins]
    calls: list[bytes] = []

    def counted(cubin: bytes, of_one: object = disassemble.disassemble) -> str:
        calls.append(cubin)
        assert callable(of_one)
        return str(of_one(cubin))

    monkeypatch.setattr(disassemble, "disassemble", counted)
    codes = [parse_sass(text) for text in disassemble_each(cubins)]
    assert codes == expected  # with lines, control codes and labels
    assert [{*code} for code in codes] == [{"loop"}, {"divide"}, {"first", "second"}, {"loop"}]
    assert len(calls) == 1
    inlined = {each.line for each in codes[0]["loop"].instructions}
    assert {6, 7, 8} <= inlined


def test_equal_names_are_disassembled_apart():
    changed = LOOP.replace("* 7", "* 5")
    codes = [parse_sass(text) for text in disassemble_each([cubin(LOOP), cubin(changed)])]
    assert codes == [parse_sass(disassemble.disassemble(cubin(text))) for text in (LOOP, changed)]
    assert codes[0] != codes[1]


def test_code_that_refers_to_other_sections_is_not_joined():
    content = parsed(cubin(LOOP))
    assert content.is_joinable
    refers = Section(".rela.text.loop", 4, 0, bytes(24))
    others = tuple(each for each in content.sections if each.name != refers.name)
    assert not type(content)(content.header, (*others, refers)).is_joinable
    assert not type(content)(content.header, content.sections[:4]).is_joinable


def test_a_joined_cubin_is_a_cubin():
    one = parsed(cubin(LOOP))
    two = parsed(cubin(SLOW_PATH))
    both = parsed(joined([one, two]))
    assert both.names == [".text.loop", ".text.divide"]
    assert both.data(".text.divide") == two.data(".text.divide")
    assert both.data(".debug_line") == one.data(".debug_line") + two.data(".debug_line")
    assert parsed(joined([both])) == both
