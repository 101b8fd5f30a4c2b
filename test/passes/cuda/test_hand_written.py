# SPDX-License-Identifier: Apache-2.0
"""Rings, copies and layouts: hand-written Kernel IR in the simulator with all checks."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen import nvrtc
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.simulator import simulate
from tilewright.codegen.simulator.tensor_map import TensorMap
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import UnsupportedError

from .kernel_ir import compile_clean, converted

Array = NDArray[Any]

FOLDER = Path(__file__).parent / "hand_written"
FILES = sorted(file.stem for file in FOLDER.glob("*.mlir"))
NEW_FILES = {"bmm_tma", "boxes", "layouts"}
"""Files with boxes or clusters."""
OLD_TARGETS = ("sm_80", "sm_86", "sm_89")
NEW_TARGETS = ("sm_90a", "sm_100a", "sm_120")

pytestmark = needs_nvrtc


@cache
def module_of(file: str) -> ModuleOp:
    """Return the CUDA IR of a file."""
    return converted((FOLDER / f"{file}.mlir").read_text())


@cache
def source_of(file: str) -> str:
    """Return the CUDA text of a file."""
    return cuda_source(module_of(file))


@cache
def ptx_of(file: str) -> str:
    """Return the PTX of a file."""
    return compile_clean(source_of(file))


def run(file: str, name: str, inputs: list[Array], outputs: list[Array]) -> None:
    """Run a kernel of a file, which fills `outputs`."""
    kernel = next(k for k in kernels_of(module_of(file)) if k.sym_name.data == name)
    maps = [
        TensorMap(
            inputs[m.input.data],
            m.box_extents,
            swizzle=m.swizzle.data,
            shape=m.extents,
            strides=tuple(stride * inputs[m.input.data].itemsize for stride in m.strides),
        )
        for m in kernel.tensor_maps
    ]
    report = simulate(
        ptx_of(file),
        name,
        grid=kernel.grid.value.data,
        block=kernel.block.value.data,
        shared_bytes=kernel.dynamic_shared_bytes,
        arguments=[*maps, *inputs, *outputs],
        read_only=range(len(maps), len(maps) + len(inputs)),
    )
    assert report.errors == []


def drawn(*shape: int) -> Array:
    """Return the same random numbers each time."""
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def nan(*shape: int) -> Array:
    """Return an array that stands for unwritten memory."""
    return np.full(shape, np.nan, np.float32)


def check_product(result: Array, a: Array, b: Array) -> None:
    """Assert that `result` is `a @ b` up to the rounding of float32 sums."""
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    assert (np.abs(result - exact) <= a.shape[-1] * 2.0**-24 * bound).all()


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_a_product_by_a_ring_of_asynchronous_copies(target: str):
    plan = plan_of(module_of("matmul_ring"))
    a, b = drawn(128, 96), drawn(96, 128)
    execution = SimulatorBackend(target).run(plan, [a, b])
    assert execution.problems == []
    check_product(execution.results[0], a, b)


def test_a_product_by_the_tensor_memory_accelerator():
    plan = plan_of(module_of("bmm_tma"))
    a, b = drawn(2, 128, 64), drawn(2, 64, 64)
    execution = SimulatorBackend("sm_90a").run(plan, [a, b])
    assert execution.problems == []
    check_product(execution.results[0], a, b.transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("name", "columns", "start"), [("pieces", 80, 0), ("whole", 96, 64), ("askew", 96, 16)]
)
def test_pieces_of_a_box(name: str, columns: int, start: int):
    x, out = drawn(100, columns), nan(128, 64)
    run("boxes", name, [x], [out])
    assert np.array_equal(out, np.pad(x, ((0, 28), (0, 64)))[:, start : start + 64])


def test_a_ring_that_threads_fill():
    x, out = drawn(6, 64), nan(6, 64)
    run("sync_ring", "reversed", [x], [out])
    assert np.array_equal(out, x[:, ::-1])


def test_vectors_of_floats_with_masks():
    x, out = drawn(100), nan(100)
    run("vectors", "floats", [x], [out])
    rows = np.zeros((32, 4), np.float32)
    rows[:24] = 2 * x.reshape(25, 4)[:24]
    assert np.array_equal(out, rows[::-1].reshape(-1)[:100])


def test_vectors_of_other_elements():
    h, d, i = drawn(256).astype(np.float16), drawn(64).astype(np.float64), np.arange(64, dtype="i4")
    b, f = np.arange(128, dtype=np.uint8), drawn(20)
    outputs = [np.zeros_like(h), np.zeros_like(d), np.zeros_like(i), np.zeros_like(b), nan(32)]
    run("vectors", "others", [h, d, i, b, f], outputs)
    h[240:] = 0
    reversed_pairs = i.reshape(32, 2)[::-1].reshape(-1)
    for got, expected in zip(outputs, [h, d, reversed_pairs, b, np.pad(f, (0, 12))], strict=True):
        assert np.array_equal(got, expected)


def test_asynchronous_copies_of_every_size_fill_with_zeros():
    x, y, z, out = drawn(200), drawn(100), drawn(40), nan(64, 7)
    run("async_sizes", "sizes", [x, y, z], [out])
    padded = np.pad(x, (0, 56)), np.pad(y, (0, 28)), np.pad(z, (0, 24))
    expected = [array.reshape(64, -1) for array in padded]
    assert np.array_equal(out, np.concatenate(expected, axis=1))


@pytest.mark.parametrize(
    ("name", "shape"), [("ordered", (16, 32)), ("swizzled", (2, 32, 32)), ("pooled", (2, 64, 256))]
)
def test_layouts_keep_the_values(name: str, shape: tuple[int, ...]):
    x, out = drawn(*shape), nan(*shape)
    run("layouts", name, [x], [out])
    assert np.array_equal(out, x + x[:, :1] if name == "pooled" else x)


EVERYWHERE = [(file, t) for file in FILES for t in NEW_TARGETS] + [
    (file, t) for file in FILES for t in OLD_TARGETS if file not in NEW_FILES
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("file", "target"), EVERYWHERE)
def test_it_compiles_and_assembles_for_every_target_that_has_it(file: str, target: str):
    source = source_of(file)
    made = nvrtc.compile_cubin(source, target)
    assert made.cubin.startswith(b"\x7fELF")
    compile_clean(source, target)  # its PTX is memoised, unless there are warnings


@pytest.mark.parametrize("file", ["matmul_ring", "bmm_tma", "matrices", "vectors"])
def test_registers_are_registers(file: str):
    """No array remains in local memory, which would be as slow as global memory."""
    made = nvrtc.compile_cubin(source_of(file), "sm_90a")
    assert ".local" not in made.ptx
    log = made.log
    assert "0 bytes stack frame, 0 bytes spill stores" in log
    assert log.count("bytes stack frame") == log.count("0 bytes stack frame, 0 bytes spill stores")


def test_older_targets_have_no_tensor_memory_accelerator():
    plan = plan_of(module_of("bmm_tma"))
    with pytest.raises(UnsupportedError, match="sm_89 has no tensor memory accelerator"):
        SimulatorBackend("sm_89").run(plan, [drawn(2, 128, 64), drawn(2, 64, 64)])


POOL = """
func.func @main(%x: memref<{columns}x64xf32>) -> memref<{columns}x64xf32> {{
  %c = memref.alloc() : memref<{columns}x64xf32>
  loop.launch @k(%x) -> (%c) : (memref<{columns}x64xf32>) -> (memref<{columns}x64xf32>)
  func.return %c : memref<{columns}x64xf32>
}}
kernel.func grid {grid} block 64 {cluster} @k(%x: memref<{columns}x64xf32>)
    -> (%out: memref<{columns}x64xf32>) {{
  %t = kernel.thread_id
  %s = kernel.shared : memref<{columns}x64xf32, 3 : i64>
  kernel.unroll %i in {columns} {{
    %0 = loop.load %x[%i, %t] : memref<{columns}x64xf32>
    loop.store %0, %s[%i, %t] : memref<{columns}x64xf32, 3 : i64>
    %1 = loop.load %s[%i, %t] : memref<{columns}x64xf32, 3 : i64>
    loop.store %1, %out[%i, %t] : memref<{columns}x64xf32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("columns", "target", "fits"), [(400, "sm_86", False), (390, "sm_86", True)]
)
def test_more_shared_memory_than_the_target_has(columns: int, target: str, fits: bool):
    plan = plan_of(converted(POOL.format(columns=columns, grid=1, cluster="")))
    x = drawn(columns, 64)
    if fits:
        assert np.array_equal(SimulatorBackend(target).run(plan, [x]).results[0], x)
        return
    message = "its blocks take 102400 bytes of shared memory; sm_86 has 101376"
    with pytest.raises(UnsupportedError, match=message):
        SimulatorBackend(target).run(plan, [x])


def test_older_targets_have_no_clusters():
    plan = plan_of(converted(POOL.format(columns=8, grid=2, cluster="cluster 2")))
    with pytest.raises(UnsupportedError, match="sm_80 has no clusters of blocks"):
        SimulatorBackend("sm_80").run(plan, [drawn(8, 64)])
