# SPDX-License-Identifier: Apache-2.0
"""
Tuning by `tilewright tune`: kernels and fusions, around searches and evaluators.

Read in this order: `kernels` (what is tuned), `evaluation` (by whom, and where), `searches`,
`findings` (what came of a kernel), `kernel_tuning`, `fusion_tuning` (which kernels there should
be), `shortlist` (a second look at kernels), `tuned` (all of it, in order), `differences` and
`table` (how that is shown), `progress` (meanwhile), and `space_table`, which counts schedules
instead.
"""
