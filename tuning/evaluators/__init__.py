# SPDX-License-Identifier: Apache-2.0
"""Evaluators: the time of a kernel with a schedule, measured on a GPU or estimated by a model."""
