# SPDX-License-Identifier: Apache-2.0
"""Attention."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
