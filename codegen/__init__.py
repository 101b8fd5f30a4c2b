# SPDX-License-Identifier: Apache-2.0
"""CUDA code generation and execution: printer, prelude, NVRTC, PTX simulator and runtime."""
