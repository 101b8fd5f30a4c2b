# SPDX-License-Identifier: Apache-2.0
"""Lowering of Loop IR to Tile IR, and the rewrites that schedule it."""
