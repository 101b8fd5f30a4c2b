# SPDX-License-Identifier: Apache-2.0
"""Keeps GPUs out of tests, which have to find the same everywhere."""

import os


def hide_gpu() -> None:
    """Have no GPU, here and in other processes; `benchmarks/gpu_check.py` tests those there are."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
