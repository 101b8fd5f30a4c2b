# SPDX-License-Identifier: Apache-2.0
"""PyTorch in: from an expression, a function or a module to Torch IR."""
