# SPDX-License-Identifier: Apache-2.0
"""The PTX simulator: runs compiled kernels where there is no GPU."""
