# SPDX-License-Identifier: Apache-2.0
"""Running sums and products."""

from tilewright.passes.decompose.decomposition import Table

PATTERNS: Table = {}
