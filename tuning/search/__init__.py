# SPDX-License-Identifier: Apache-2.0
"""
Which schedules to try, in which order. All searches are asked and told in one frame (`trials`), so
that they can be compared, stopped and resumed in the same way.
"""
