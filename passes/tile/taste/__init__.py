# SPDX-License-Identifier: Apache-2.0
"""
Taste: heuristics that rank the choices of each scheduling pass, and reasons to skip the pass.

The planner decides options that depend on each other, from a kernel that is not scheduled yet.
Taste is the default of a bare run (`opt-tool -p blockify-launch`): steps before it have changed the
launch, so that the planner's problem is gone. Taste also decides options that depend on nothing
else, and ranks the values that a search tries.
"""
