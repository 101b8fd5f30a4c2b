# SPDX-License-Identifier: Apache-2.0
"""Texts of single kernels: each compiles alone, and keeps the line numbers of the whole text."""

import pytest
from needs import needs_nvrtc

from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.machine_code import machine_code, ptx
from tilewright.codegen.nvrtc import CudaCompileError

HEAD = "static __device__ float twice(float x) {\n  return x + x;\n}\n\n"
KERNEL = """\
// grid 1, block 32
extern "C" __global__ void __launch_bounds__(32, 2) {name}(
    float *x) {{
  x[threadIdx.x] = {value};
}}

"""
TWO = HEAD + KERNEL.format(name="f", value="twice(1)") + KERNEL.format(name="g", value="2")


def test_a_kernel_alone_is_the_whole_text():
    text = HEAD + KERNEL.format(name="f", value="1")
    assert kernel_texts(text, ["f"]) == {"f": text}


def test_text_that_was_not_printed_is_not_divided():
    text = 'extern "C" __global__ void f() {}\nextern "C" __global__ void g() {}\n'
    assert kernel_texts(text, ["g", "f"]) == {"g": text, "f": text}


def test_each_kernel_has_the_common_head():
    f, g = kernel_texts(TWO, ["f", "g"]).values()
    assert f == HEAD + '#line 5 "kernels.cu"\n' + KERNEL.format(name="f", value="twice(1)")
    assert g == HEAD + '#line 11 "kernels.cu"\n' + KERNEL.format(name="g", value="2")


@needs_nvrtc
def test_lines_are_those_of_the_whole_text():
    with pytest.raises(CudaCompileError) as error:
        machine_code(TWO.replace("= 2;", "= two;"), ["f", "g"], "sm_90a")
    assert error.value.where == "kernels.cu:14"
    assert [*ptx(TWO, ["g"], "sm_90a")] == ["g"]
    lines = ptx(TWO, ["f", "g"], "sm_90a")["g"].ptx.splitlines()
    assert {line.split()[2] for line in lines if line.startswith("\t.loc")} >= {"14", "15"}


@needs_nvrtc
def test_kernels_that_did_not_change_are_not_compiled_again():
    text = TWO.replace("= 2;", "= 2.625;")
    once = machine_code(text, ["f", "g"], "sm_90a")
    again = machine_code(text.replace("2.625", "3.625"), ["f", "g"], "sm_90a")
    assert again["f"] is once["f"]
    assert again["g"].cubin != once["g"].cubin
