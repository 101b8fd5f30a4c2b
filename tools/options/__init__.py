# SPDX-License-Identifier: Apache-2.0
"""The options of each command; light, so that help and mistakes are answered at once."""
