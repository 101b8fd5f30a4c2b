# SPDX-License-Identifier: Apache-2.0
"""Comparisons, truth values and bits."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
