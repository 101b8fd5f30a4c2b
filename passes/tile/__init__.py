# SPDX-License-Identifier: Apache-2.0
"""Loop IR to Tile IR, and the rewrites that schedule it."""
