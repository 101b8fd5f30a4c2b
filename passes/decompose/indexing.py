# SPDX-License-Identifier: Apache-2.0
"""Subscripts that are elements of tensors."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
