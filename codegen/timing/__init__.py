# SPDX-License-Identifier: Apache-2.0
"""
Times of calls on a GPU, measured side by side, and verdicts on their differences.

Read in this order: `roofline` (how fast anything could be), `rotation` (so that inputs come from
memory, not from a cache), `timer` and `device` (what measures), `protocol` (in which order, and how
often), `recorded` (whether results are still right), `samples` (what the samples say), `look`
(at one plan alone), `verdict` (when one is faster than another), `isolated` (a process that may
hang), `gpu_state` (clocks and power), and `cuda_device`, which does it on a GPU. All but the last
is plain Python: it is tested without a GPU.
"""
