# SPDX-License-Identifier: Apache-2.0
"""Torch ops that cut tensors into several, join several into one, or pad one."""
