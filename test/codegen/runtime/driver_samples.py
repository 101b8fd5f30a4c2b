# SPDX-License-Identifier: Apache-2.0
"""Two kernels, and launches of them with made-up addresses."""

import numpy as np

from tilewright.codegen.launch_plan import ArrayType, Launch, MapOf
from tilewright.codegen.runtime.driver import Arguments, Memory

SOURCE = """
struct alignas(128) TensorMap { unsigned long long words[16]; };
extern "C" __global__ void scale(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
extern "C" __global__ void mapped(
    const __grid_constant__ TensorMap x_map, const float *x, float *y) { y[0] = x[0]; }
"""
FLOATS = ArrayType((64, 32), np.dtype(np.float32))
X, Y, ELSEWHERE = (Memory(0x7F0000000000 + 0x10000 * n, FLOATS) for n in range(3))
POINTERS = Arguments((), (X,), (Y,))
SCALE = Launch("scale", 3, 128, 0, (0,), (1,))
MAP = MapOf(0, (64, 32), (16, 8), 32)
MAPPED = Launch("mapped", 1, 32, 70000, (0,), (1,), (), 70000, (MAP,))
