# SPDX-License-Identifier: Apache-2.0
"""Limits of targets that are checked before a launch runs."""

import pytest

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.target_limits import check_launches
from tilewright.errors import UnsupportedError


def _launch(buffers: int) -> Launch:
    return Launch("k", 1, 32, 0, tuple(range(buffers - 1)), (buffers - 1,))


def test_a_kernel_has_a_limit_of_buffers() -> None:
    check_launches([_launch(4095)], "sm_90a")
    with pytest.raises(
        UnsupportedError, match="@k: it takes 32768 bytes of parameters, more than 32764"
    ):
        check_launches([_launch(4096)], "sm_90a")
