# SPDX-License-Identifier: Apache-2.0
"""
Search for the fastest schedule of each kernel, and the database of what was measured.

`space` lists the schedules of a kernel, `search` chooses the next one to try, `evaluators` measure
or estimate its time, and `database` keeps the result.
"""
