# SPDX-License-Identifier: Apache-2.0
"""Convolutions."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
