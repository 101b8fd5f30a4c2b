# SPDX-License-Identifier: Apache-2.0
"""Commands of `tilewright`: one module each, with a function `run`."""
