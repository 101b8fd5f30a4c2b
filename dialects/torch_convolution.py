# SPDX-License-Identifier: Apache-2.0
"""Torch ops that convolve."""
