# SPDX-License-Identifier: Apache-2.0
"""Output of the commands: files, reports, traces, progress and errors."""
