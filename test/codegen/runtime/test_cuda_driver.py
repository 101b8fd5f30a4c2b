# SPDX-License-Identifier: Apache-2.0
"""
Calls of `CudaDriver`, logged by a fake library that is compiled with the real driver's header.
"""

import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.codegen.launch_plan import ArrayType, MapOf
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.driver import Arguments, Memory

from .driver_samples import ELSEWHERE, MAP, MAPPED, POINTERS, SCALE, SOURCE, X, Y
from .fake_driver import FakeDriver


def addresses(*memory: Memory) -> str:
    """Return a block of parameters in hexadecimal."""
    return struct.pack(f"={len(memory)}Q", *(each.address for each in memory)).hex()


def test_loading(cuda_driver: CudaDriver, fake: FakeDriver):
    module = cuda_driver.load(SOURCE, "sm_90a")
    function = module.function("mapped", 70000)
    assert fake.log() == [
        "push 0xc0000000c0000000",
        "cuModuleLoadData 7f454c46",  # an ELF file
        "pop ",
        "push 0xc0000000c0000000",  # a thread has no context before its first PyTorch call
        "cuModuleGetFunction 0x6d00000000000000 mapped",
        "cuFuncSetAttribute 0xf000000000000006 dynamic shared 70000",
        "pop ",
    ]
    assert (function.registers, function.local_bytes) == (42, 7)


def test_a_launch(cuda_driver: CudaDriver, fake: FakeDriver):
    bound = cuda_driver.load(SOURCE, "sm_90a").function("scale", 0).bind(SCALE, POINTERS)
    fake.log()
    bound(0x7E00000000000001)
    assert fake.log() == [
        "cuLaunchKernelEx 0xf000000000000005 grid 3 1 1 block 128 1 1 shared 0 "
        f"stream 0x7e00000000000001 attributes 0 {addresses(X, Y)}"
    ]


def test_tensor_maps_are_encoded_once_and_come_first(cuda_driver: CudaDriver, fake: FakeDriver):
    function = cuda_driver.load(SOURCE, "sm_90a").function("mapped", 70000)
    fake.log()
    for output in (Y, ELSEWHERE):
        function.bind(MAPPED, Arguments(((MAP, X),), (X,), (output,)))(0)
    encoded, *launches = fake.log()
    # innermost dimension first: 32 elements of 4 bytes, then 64 rows of 128 bytes
    assert encoded == (
        "cuTensorMapEncodeTiled type 7 rank 2 at 0x7f0000000000 [32 128 8 1] [64 0 16 1] "
        "interleave 0 swizzle 1 l2 2 fill 0"
    )
    assert [line.split()[-1] for line in launches] == [
        "ab" * 128 + addresses(X, output) for output in (Y, ELSEWHERE)
    ]


def test_strides_of_a_tensor_map(cuda_driver: CudaDriver, fake: FakeDriver):
    """Halves of the rows of a 64x32 array are its outermost axis."""
    map = MapOf(0, (2, 64, 16), (2, 8, 16), 64, (16, 32, 1))
    function = cuda_driver.load(SOURCE, "sm_90a").function("mapped", 70000)
    fake.log()
    launch = replace(MAPPED, tensor_maps=(map,))
    function.bind(launch, Arguments(((map, X),), (X,), (Y,)))
    (encoded,) = fake.log()
    assert "[16 128 16 1] [64 64 8 1] [2 0 2 1]" in encoded


FILLS: dict[str, tuple[Any, float, str]] = {
    "f32": (np.float32, 1.0, "memset 4 7f0000000000 3f800000 2048"),
    "f16": (np.float16, 1.0, "memset 2 7f0000000000 3c00 2048"),
    "i8": (np.int8, -1, "memset 1 7f0000000000 ff 2048"),
    "bool": (np.bool_, 1, "memset 1 7f0000000000 1 2048"),
    "zeros of eight bytes": (np.float64, 0.0, "memset 4 7f0000000000 0 4096"),
    "eight bytes": (np.int64, 5, "memset rows 7f0000000000 pitch 8 5 1 x 2048"),
}


@pytest.mark.parametrize("fill", FILLS)
def test_fills(fill: str, cuda_driver: CudaDriver, fake: FakeDriver):
    dtype, value, expected = FILLS[fill]
    memory = Memory(X.address, ArrayType((64, 32), np.dtype(dtype)))
    cuda_driver.bind_fill(memory, value)(0)
    first, *more = fake.log()
    assert first == f"{expected} stream (nil)"
    rows = ["memset rows 7f0000000004 pitch 8 0 1 x 2048 stream (nil)"]
    assert more == (rows if fill == "eight bytes" else [])


def test_nothing_is_filled_without_elements(cuda_driver: CudaDriver, fake: FakeDriver):
    cuda_driver.bind_fill(Memory(0, ArrayType((0, 3), np.dtype(np.float32))), 1.0)(0)
    assert fake.log() == []


def test_a_graph_is_a_chain_whose_arguments_can_change(cuda_driver: CudaDriver, fake: FakeDriver):
    function = cuda_driver.load(SOURCE, "sm_90a").function("scale", 0)
    steps = [cuda_driver.bind_fill(Y, 1.0), function.bind(SCALE, POINTERS)]
    fake.log()
    graph = cuda_driver.graph(steps)
    first, second = "0x7000000000000001", "0x7000000000000002"
    scale = "0xf000000000000005 grid 3 1 1 block 128 1 1 shared 0"
    ones = "pitch 0 3f800000 size 4 2048 x 1 in 0xc0000000c0000000"
    assert fake.log() == [
        "cuGraphCreate 0",
        f"add memset {first} after (nil) 7f0000010000 {ones}",
        f"add kernel {second} after {first} {scale} {addresses(X, Y)}",
        "cuGraphInstantiate 0x6000000000000001 0",
    ]
    graph(0x7E00000000000001)
    assert fake.log() == ["cuGraphLaunch 0xe000000000000001 stream 0x7e00000000000001"]
    graph.update(0, cuda_driver.bind_fill(ELSEWHERE, 1.0))
    graph.update(1, function.bind(SCALE, Arguments((), (X,), (ELSEWHERE,))))
    assert fake.log() == [
        f"set memset {first} after (nil) 7f0000020000 {ones}",
        f"set kernel {second} after (nil) {scale} {addresses(X, ELSEWHERE)}",
    ]


def test_a_capture_has_a_number(cuda_driver: CudaDriver, fake: FakeDriver):
    numbers = [cuda_driver.capture(stream) for stream in (0x7E00000000000001, 0)]
    assert numbers == [0xCA00000000000001, 0]
    assert fake.log() == ["captured 0x7e00000000000001 1", "captured (nil) 1"]
