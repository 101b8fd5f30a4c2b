# SPDX-License-Identifier: Apache-2.0
"""The commands: tilewright and opt-tool."""
