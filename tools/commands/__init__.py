# SPDX-License-Identifier: Apache-2.0
"""Commands of `tilewright`, one module each; `folder` and `host` are outputs of `compile`."""
