# SPDX-License-Identifier: Apache-2.0
"""Options of each command; light modules, for help and mistakes are answered at once."""
