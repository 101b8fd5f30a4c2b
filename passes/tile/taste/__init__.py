# SPDX-License-Identifier: Apache-2.0
"""
Taste: heuristics that rank the choices of each scheduling pass, and reasons to skip the pass.

The planner decides options that depend on each other, from a kernel that is not scheduled yet. Its
values hold only together: a block of 128 by 128 elements needs its register tile.

Taste is the default of a bare run (`opt-tool -p blockify-launch`), which makes one decision for a
launch as it is. Taste also decides options that depend on nothing else, and ranks the values that
a search tries.
"""
