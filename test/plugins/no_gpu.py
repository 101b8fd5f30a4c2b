# SPDX-License-Identifier: Apache-2.0
"""Keeps GPUs out of tests, which have to find the same everywhere."""

import os


def hide_gpu() -> None:
    """Hide GPUs from this process and its children; `benchmarks/gpu_check.py` uses them."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
