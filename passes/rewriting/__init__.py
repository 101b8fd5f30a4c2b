# SPDX-License-Identifier: Apache-2.0
"""Tools that passes rewrite with: cloning with other values, appending ops, sharing values."""
