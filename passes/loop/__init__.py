# SPDX-License-Identifier: Apache-2.0
"""Tensor IR to Loop IR, and rewrites of Loop IR."""
