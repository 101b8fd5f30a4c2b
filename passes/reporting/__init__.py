# SPDX-License-Identifier: Apache-2.0
"""Reports of passes: records of rewrites, and errors at an operation."""
