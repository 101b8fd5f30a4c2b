# SPDX-License-Identifier: Apache-2.0
"""Output of commands: files, reports, traces, progress and errors."""
