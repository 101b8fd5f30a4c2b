# SPDX-License-Identifier: Apache-2.0
"""Interpreters: each level runs in NumPy, so that every pass can be checked against them."""

from tilewright.interpreters.host import interpret
from tilewright.interpreters.kernels import interpret_kernel

__all__ = ["interpret", "interpret_kernel"]
