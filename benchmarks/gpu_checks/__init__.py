# SPDX-License-Identifier: Apache-2.0
"""
What `gpu_check.py` looks at on a machine with a GPU, stage by stage.

Read in this order: `outcome` (what comes of a check), `device` (where kernels run), `programs` and
`behaviour` (what is run); the stages `environment`, `frontend`, `drivers`, `correctness`,
`bitwise`, `counters` and `sanitizer` (the last two by way of `tool` and `launched`); then `stage`
(their table), `worker` (checks in processes that may hang or crash), `record` (what was found so
far), `run` (all of it within its time) and `suite` (the race against PyTorch); `options`, `tables`
and `command` are what a person sees.
"""
