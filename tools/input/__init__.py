# SPDX-License-Identifier: Apache-2.0
"""Input of commands: programs, models, prompts, schedules."""
