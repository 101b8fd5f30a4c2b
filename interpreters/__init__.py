# SPDX-License-Identifier: Apache-2.0
"""Interpreters of all levels above CUDA: every pass can be checked against what they compute."""

from tilewright.interpreters.host import interpret
from tilewright.interpreters.kernels import interpret_kernel

__all__ = ["interpret", "interpret_kernel"]
