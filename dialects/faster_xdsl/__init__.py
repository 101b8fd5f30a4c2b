# SPDX-License-Identifier: Apache-2.0
"""Replacements of general code of xDSL, for speed; each says what would make it unnecessary."""
