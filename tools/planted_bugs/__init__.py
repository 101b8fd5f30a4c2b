# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in correct kernels, and the checks that must find them (`tilewright simcheck`)."""
