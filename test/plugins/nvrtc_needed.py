# SPDX-License-Identifier: Apache-2.0
"""
Skip for fixtures that need NVRTC, because a fixture takes no mark. It does not look for a driver.
"""

import pytest

from tilewright.codegen import nvrtc

REASON = "NVRTC is not installed"


def need_nvrtc() -> None:
    """Skip the tests of the fixture where there is no NVRTC."""
    if not nvrtc.available():
        pytest.skip(REASON)
