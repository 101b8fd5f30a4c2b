# SPDX-License-Identifier: Apache-2.0
"""
`tilewright bench` and `run --bench`: Tilewright against PyTorch, on a GPU.

Read in this order: `workload` (a function with its inputs), `work` (what it has to do at least),
`contestants` (who computes it), `contest` (right first, then timed), `row` (what is kept of it),
`launches` (each launch of ours alone, of decoder blocks); then `request` (what is asked for),
`worker` (the process that does this), `supervisor` (that starts it, and ends it when it hangs),
`results_file`, `summary`, `table` and `plot`. How time is taken is `codegen/timing/`.
"""
