# SPDX-License-Identifier: Apache-2.0
"""Tensors of numbers."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
