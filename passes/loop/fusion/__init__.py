# SPDX-License-Identifier: Apache-2.0
"""Fusion of kernels, decided by a model of their time."""
