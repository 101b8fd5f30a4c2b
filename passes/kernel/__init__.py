# SPDX-License-Identifier: Apache-2.0
"""Lowering of Tile IR to Kernel IR, and rewrites of Kernel IR."""
