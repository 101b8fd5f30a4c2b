# SPDX-License-Identifier: Apache-2.0
"""Running passes: pipelines, levels, lowering, and verification after each pass."""
