# SPDX-License-Identifier: Apache-2.0
"""
Limit of torch to one thread: tensors of tests are small, and each core runs a test of its own.
"""

import os


def use_one_thread() -> None:
    """Limit torch to one thread in this process and its children, before torch is imported."""
    os.environ["OMP_NUM_THREADS"] = "1"
