# SPDX-License-Identifier: Apache-2.0
"""
Checks of `gpu_check.py` on a machine with a GPU, stage by stage.

Reading order:

- `outcome`: the result of a check
- `device`: the device that runs kernels
- `programs` and `behaviour`: the programs to run
- `environment`, `frontend`, `drivers`, `correctness`, `bitwise`, `counters`, `sanitizer`: stages
- `tool` and `launched`: helpers of the last two stages
- `stage`: the table of stages
- `worker`: checks in processes that may hang or crash
- `record`: the results so far
- `run`: all checks within the time limit
- `suite`: the races against PyTorch
- `options`, `tables` and `command`: the user interface
"""
