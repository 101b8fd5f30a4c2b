# SPDX-License-Identifier: Apache-2.0
"""Marks of tests that need what is not installed everywhere: without it they are skipped."""

import pytest

from tilewright.codegen import nvrtc

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
