# SPDX-License-Identifier: Apache-2.0
"""Planner: chooses the schedule of each kernel by an analytical model of its time."""
