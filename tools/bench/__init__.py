# SPDX-License-Identifier: Apache-2.0
"""
Measurements of `tilewright bench` and `run --bench`: Tilewright against PyTorch.

Reading order:

- `workload`: a function with its inputs
- `work`: its minimum of operations and bytes
- `contestants`: Tilewright and PyTorch's backends
- `contest`: comparison of results, then timing
- `row`: the recorded result of a case
- `launches`: each launch of a decoder block alone
- `request`, `worker`, `supervisor`: the process that measures, and the one that restarts it
- `results_file`, `row_check`, `summary`, `table`, `plot`: the output
- `suite`, `suite_inputs`, `block_case`: the cases
- `static_bench`, `static_rows`: reports on machine code, without a GPU
- `published_case`, `published_rows`, `published_bench`, `known_errors`: estimates beside published
  times, without a GPU
- `profile`: NVIDIA's profiler
- `environment`, `gpu`: descriptions of the machine

`codegen/timing/` measures the times.
"""
