# SPDX-License-Identifier: Apache-2.0
"""Command-line options of each command; these modules import little, so that help is fast."""
