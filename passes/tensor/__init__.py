# SPDX-License-Identifier: Apache-2.0
"""Rewrites of Tensor IR."""
