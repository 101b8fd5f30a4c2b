# SPDX-License-Identifier: Apache-2.0
"""What commands write: files, reports, traces, progress and errors."""
