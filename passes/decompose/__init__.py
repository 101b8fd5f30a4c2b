# SPDX-License-Identifier: Apache-2.0
"""Torch IR to Tensor IR: one file per family of ATen ops."""
