# SPDX-License-Identifier: Apache-2.0
"""The commands of `tilewright`: one module each, with a function `run`."""
