# SPDX-License-Identifier: Apache-2.0
"""Analyses: facts that passes read from the IR and never change."""
