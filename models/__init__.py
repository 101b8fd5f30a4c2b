# SPDX-License-Identifier: Apache-2.0
"""Whole language models of `transformers`: found, captured, compiled, given their weights."""
