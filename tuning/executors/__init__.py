# SPDX-License-Identifier: Apache-2.0
"""
Where work is done: executors as `concurrent.futures` has them, so that who submits need not know.

`isolated` has processes on this machine, `farm` those of a Dask scheduler. Both take functions that
can be imported, with arguments that can be pickled.
"""
