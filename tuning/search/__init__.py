# SPDX-License-Identifier: Apache-2.0
"""
Search algorithms over schedules. All run in one frame (`trials`), so that they can be compared,
stopped and resumed in the same way.
"""
