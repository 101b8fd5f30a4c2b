# SPDX-License-Identifier: Apache-2.0
"""
Faster replacements of general xDSL code; each names the change of xDSL that would make it
unnecessary.
"""
