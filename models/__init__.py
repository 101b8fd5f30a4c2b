# SPDX-License-Identifier: Apache-2.0
"""Whole language models of `transformers`: lookup, capture, compilation, weights and generation."""
