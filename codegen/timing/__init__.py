# SPDX-License-Identifier: Apache-2.0
"""
Times of calls on a GPU, measured side by side, and verdicts on their differences.

Read the modules in this order:

- `roofline`: the least time that is possible
- `rotation`: copies of inputs, which then come from memory and not from a cache
- `timer` and `device`: interfaces of a clock and of a device
- `protocol`: the order and number of measurements
- `recorded`: a check that results are still right
- `samples`: statistics of the samples
- `look`: a measurement of one plan alone
- `verdict`: the comparison of two results
- `isolated`: a process for code that may hang
- `gpu_state`: clocks and power
- `cuda_device`: measurements on a GPU

All modules but the last are plain Python and are tested without a GPU.
"""
