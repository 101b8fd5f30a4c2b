# SPDX-License-Identifier: Apache-2.0
"""Torch ops that compare, and those on truth values and on bits."""
