# SPDX-License-Identifier: Apache-2.0
"""Tools for rewriting: cloning with other values, appending ops, applying a pattern once."""
