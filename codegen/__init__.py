# SPDX-License-Identifier: Apache-2.0
"""CUDA text out: printer, prelude, NVRTC, the PTX simulator, the runtime."""
