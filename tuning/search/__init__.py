# SPDX-License-Identifier: Apache-2.0
"""
Search algorithms over schedules. One driver, `trials`, runs all of them, so that they can be
compared, stopped and resumed in the same way.
"""
