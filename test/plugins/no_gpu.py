# SPDX-License-Identifier: Apache-2.0
"""Hiding of GPUs from tests, which must give the same results on every machine."""

import os


def hide_gpu() -> None:
    """Hide GPUs from this process and its children; `benchmarks/gpu_check.py` uses them."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
