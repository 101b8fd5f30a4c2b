# SPDX-License-Identifier: Apache-2.0
"""Tile IR to Kernel IR, and rewrites of Kernel IR."""
