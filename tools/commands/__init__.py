# SPDX-License-Identifier: Apache-2.0
"""
Implementations of `tilewright`'s commands, one module each; `folder` and `host` are outputs of
`compile`.
"""
