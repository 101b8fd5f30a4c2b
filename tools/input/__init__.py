# SPDX-License-Identifier: Apache-2.0
"""What commands read: programs, models, prompts, schedules."""
