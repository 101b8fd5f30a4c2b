# SPDX-License-Identifier: Apache-2.0
"""
The clock: a model of the time of a launch that issues its machine code instruction by instruction.

| module           | content                                          |
|------------------|--------------------------------------------------|
| `machine`        | rates and latencies of each target, and devices  |
| `places`         | costs of each instruction                        |
| `trips`, `route` | steps of loops, and the order of instructions    |
| `flight`         | device memory and L2                             |
| `multiprocessor` | issue of `steps`, with `warps` and `waits`       |
| `launch_clock`   | rounds of blocks; the result is in `timeline`    |
"""
