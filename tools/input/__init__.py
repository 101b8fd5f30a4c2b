# SPDX-License-Identifier: Apache-2.0
"""Input of the commands: programs, models, prompts, schedules."""
