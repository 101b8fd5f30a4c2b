# SPDX-License-Identifier: Apache-2.0
"""Search for the cause of a wrong result: its pass, rule and match, and the smallest program."""
