# SPDX-License-Identifier: Apache-2.0
"""Cost models of kernels: memory traffic, bank conflicts, instructions and registers."""
