# SPDX-License-Identifier: Apache-2.0
"""Cutting, joining and padding."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
