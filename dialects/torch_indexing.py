# SPDX-License-Identifier: Apache-2.0
"""Torch ops whose subscripts are elements of tensors."""
