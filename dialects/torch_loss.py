# SPDX-License-Identifier: Apache-2.0
"""Torch ops that measure how far two tensors are apart."""
