# SPDX-License-Identifier: Apache-2.0
"""How long a kernel takes with a schedule: measured on a GPU, or as a model has it."""
