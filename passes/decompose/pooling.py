# SPDX-License-Identifier: Apache-2.0
"""Reductions of a moving window."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
