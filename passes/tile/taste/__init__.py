# SPDX-License-Identifier: Apache-2.0
"""The planner: chooses the schedule of each kernel by a closed model of its time."""
