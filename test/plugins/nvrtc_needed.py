# SPDX-License-Identifier: Apache-2.0
"""What a fixture says that needs NVRTC, as it takes no mark; no driver is looked for here."""

import pytest

from tilewright.codegen import nvrtc

REASON = "NVRTC is not installed"


def need_nvrtc() -> None:
    """Skip the tests of the fixture where there is no NVRTC."""
    if not nvrtc.available():
        pytest.skip(REASON)
