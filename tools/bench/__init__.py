# SPDX-License-Identifier: Apache-2.0
"""
Measurements of the commands `tilewright bench` and `run --bench`: Tilewright against PyTorch.

Read in this order: `workload` (a function with its inputs), `work` (what it has to do at least),
`contestants` (who computes it), `contest` (right first, then timed), `row` (what is kept of it),
`launches` (each launch of ours alone, of decoder blocks); then `request` (what is asked for),
`worker` (the process that does this), `supervisor` (that starts it, and ends it when it hangs),
`results_file`, `row_check`, `summary`, `table` and `plot`. `suite`, `suite_inputs` and `block_case`
read what is measured; `static_bench` and `static_rows` need no GPU; `profile` runs NVIDIA's
profiler, `environment` and `gpu` describe the machine. Times are taken by `codegen/timing/`.
"""
