# SPDX-License-Identifier: Apache-2.0
"""
Execution of launch plans on a GPU.

All drivers share one host code. One of the drivers is the simulator, so host code is tested without
a GPU. Read the files in this order:

1. `driver`: the interface of a driver;
2. `tensor_map` and `libcuda`: the driver API through ctypes;
3. `cuda_graph`, `cuda_launch`, `cuda_driver`, `bindings_driver`, `pycuda_driver` and
   `simulated_driver`: the drivers;
4. `cubin_cache`: machine code on disk;
5. `tensors`: inputs in the layout that kernels read, and new memory;
6. `steps` and `workspace`: the steps that a stream runs, and its slab;
7. `loaded_plan`: a call;
8. `gpu_backend`: the interface to the rest of Tilewright.
"""
