# SPDX-License-Identifier: Apache-2.0
"""Marks for tests that need a tool or device that may be missing: they are skipped without it."""

import pytest
from nvrtc_needed import REASON

from tilewright.codegen import nvrtc
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.report.disassemble import find_nvdisasm

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason=REASON)
needs_nvdisasm = pytest.mark.skipif(find_nvdisasm() is None, reason="needs nvdisasm")
needs_no_gpu = pytest.mark.skipif(present_gpu() is not None, reason="there is a GPU")
