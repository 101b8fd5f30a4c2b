# SPDX-License-Identifier: Apache-2.0
"""Interpreters of all IRs above CUDA, against which every pass can be checked."""

from tilewright.interpreters.host import interpret
from tilewright.interpreters.kernels import interpret_kernel

__all__ = ["interpret", "interpret_kernel"]
