# SPDX-License-Identifier: Apache-2.0
"""Lowering of Torch IR to Tensor IR: one file for each family of ATen ops."""
