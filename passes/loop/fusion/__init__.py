# SPDX-License-Identifier: Apache-2.0
"""Fusion: which kernels become one, decided by a model of their time."""
