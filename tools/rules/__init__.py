# SPDX-License-Identifier: Apache-2.0
"""Checks of single rewrite rules: `opt-tool prove-rule` and `opt-tool lint-rules`."""
