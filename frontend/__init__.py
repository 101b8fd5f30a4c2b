# SPDX-License-Identifier: Apache-2.0
"""Front end: from a PyTorch expression, function or module to Torch IR."""
