# SPDX-License-Identifier: Apache-2.0
"""Taste: of what each scheduling pass may do, which is worth a trial, and when to do without it."""
