# SPDX-License-Identifier: Apache-2.0
"""Taste: heuristics that rank the choices of each scheduling pass, and reasons to skip the pass."""
