# SPDX-License-Identifier: Apache-2.0
"""Keeps torch to one thread: tensors of tests are small, and each core has a test of its own."""

import os


def use_one_thread() -> None:
    """Here and in other processes; before torch is imported."""
    os.environ["OMP_NUM_THREADS"] = "1"
