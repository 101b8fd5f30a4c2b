# SPDX-License-Identifier: Apache-2.0
"""What the environment says of the CUDA toolkit."""

import os

from tilewright.codegen import nvrtc


def use_cuda_home() -> None:
    """Let NVRTC be found in `CUDA_HOME` too, where its package is not installed."""
    if home := os.environ.get("CUDA_HOME"):
        nvrtc.use_toolkit(home)
