# SPDX-License-Identifier: Apache-2.0
"""
Executors with the interface of `concurrent.futures`, for work in other processes.

`isolated` runs processes on this machine, `farm` the workers of a Dask scheduler. Both take
functions that can be imported, with arguments that can be pickled.
"""
