# SPDX-License-Identifier: Apache-2.0
"""Losses."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
