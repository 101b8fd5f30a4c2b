# SPDX-License-Identifier: Apache-2.0
"""
Running launch plans on a GPU.

Host code is one for all drivers, and one of them is the simulator: what runs on a GPU is tested
without one. Read in this order: `driver` (what a driver has to do), `tensor_map` and `libcuda` (the
driver API through ctypes), `cuda_graph`, `cuda_launch`, `cuda_driver`, `bindings_driver`,
`pycuda_driver` and `simulated_driver` (those that do it), `cubin_cache`, `tensors` (inputs as
kernels take them, and new memory), `steps` and `workspace` (what a stream runs, on its slab),
`loaded_plan` (a call), `gpu_backend`.
"""
