# SPDX-License-Identifier: Apache-2.0
"""Registers, spills, stack and shared memory, read from the compiler's log."""

import re

import pytest
from machine_code import GENERATIONS, resources_of, sass_of

from tilewright.codegen.report.loops import reachable
from tilewright.codegen.report.resources import Resources, parse_resources, register_limit
from tilewright.dialects.target import target as target_named
from tilewright.errors import TilewrightError

_LOG = """\
kernels.cu(3): warning #177-D: variable "unused" was declared but never referenced
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_80'
ptxas info    : Function properties for a
ptxas         .     40 bytes stack frame, 36 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 40 bytes cumulative stack size, 32 bytes smem
ptxas info    : Function properties for _Z1fi
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'b' for 'sm_80'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
"""


def test_each_kernel_has_its_own():
    assert parse_resources(_LOG) == {
        "a": Resources(40, 40, 36, 32, 32, 1),
        "b": Resources(8, 0, 0, 0, 0, 0),
    }


def test_a_log_that_does_not_say_is_an_error():
    with pytest.raises(TilewrightError, match="does not say what kernel 'a' uses"):
        parse_resources("ptxas info    : Compiling entry function 'a' for 'sm_80'\n")


def test_spills_and_a_stack_are_not_the_same():
    spilling, subscripted = (resources_of("odd.cu")[name] for name in ("spilling", "subscripted"))
    assert spilling.spills
    assert spilling.registers == 32
    assert not subscripted.spills
    assert subscripted.stack_bytes == 800


def test_shared_memory():
    assert resources_of("sgemm.cu")["sgemm"].static_shared_bytes == 2 * 2 * 16 * 32 * 16


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", GENERATIONS)
def test_the_code_names_no_register_beyond(target: str):
    for file in ("sgemm.cu", "odd.cu"):
        for name, code in sass_of(file, target).items():
            operands = (code.instructions[place].operands for place in reachable(code))
            highest = max(int(n) for text in operands for n in re.findall(r"\bR(\d+)\b", text))
            assert highest < resources_of(file, target)[name].registers


def test_launch_bounds_limit_registers():
    """65536 registers of an SM for two blocks of 256 threads, four of them, or one of 1024."""
    ptx = """
.visible .entry two(
	.param .u64 two_param_0
)
.maxntid 256, 1, 1
.minnctapersm 2
{
.visible .entry four(
)
.maxntid 256
.minnctapersm 4
{
.visible .entry large(
)
.maxntid 1024
{
.visible .entry free(
)
{
"""
    h100 = target_named("sm_90a")
    names = ("two", "four", "large", "free")
    assert [register_limit(ptx, name, h100) for name in names] == [128, 64, 64, 255]
