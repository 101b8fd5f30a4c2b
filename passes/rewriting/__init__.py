# SPDX-License-Identifier: Apache-2.0
"""Utilities for rewriting: cloning with substituted values, appending ops, sharing values."""
