# SPDX-License-Identifier: Apache-2.0
"""Marks of tests that need what is not there everywhere: without it they are skipped."""

import pytest
from nvrtc_needed import REASON

from tilewright.codegen import nvrtc
from tilewright.codegen.gpu import present_gpu

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason=REASON)
needs_no_gpu = pytest.mark.skipif(present_gpu() is not None, reason="there is a GPU")
