# SPDX-License-Identifier: Apache-2.0
"""
Search in the place of heuristics: schedules of a kernel are tried, and what they came to is kept.

`space` says which schedules there are, `search` which of them to try next, `evaluators` how long
they take, `database` remembers it.
"""
