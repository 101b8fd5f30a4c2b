# SPDX-License-Identifier: Apache-2.0
"""Torch ops that make tensors of numbers."""
