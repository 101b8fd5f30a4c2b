# SPDX-License-Identifier: Apache-2.0
"""Execution of passes: pipelines, levels, lowering, and verification after each pass."""
