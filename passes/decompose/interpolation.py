# SPDX-License-Identifier: Apache-2.0
"""Resizing."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
