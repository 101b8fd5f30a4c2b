# SPDX-License-Identifier: Apache-2.0
"""What runs passes: pipelines, levels, verification, errors and the trace of rewrites."""
