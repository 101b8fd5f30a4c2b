# SPDX-License-Identifier: Apache-2.0
"""
Implementation of `tilewright tune`: the tuning of kernels and fusions with searches and evaluators.

Reading order:

- `kernels`: the kernels and programs to tune
- `evaluation`: the device or model that measures them
- `searches`: the search algorithms
- `findings`: the measurements of a kernel
- `kernel_tuning`: the search for a kernel's schedule
- `fusion_tuning`: the search for a program's fusion
- `shortlist`: a second ranking of schedules, by machine code
- `tuned`: the whole run
- `differences` and `table`: the output
- `progress`: the progress bar
- `space_table`: the number of schedules, without measuring them
"""
