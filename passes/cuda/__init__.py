# SPDX-License-Identifier: Apache-2.0
"""Lowering of Kernel IR to CUDA IR, and rewrites of CUDA IR."""
