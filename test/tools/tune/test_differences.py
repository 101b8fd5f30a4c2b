# SPDX-License-Identifier: Apache-2.0
"""Differences between two schedules, in words."""

import pytest

from tilewright.tools.tune.differences import differences

DEFAULT = "tileify,blockify-launch{m=16 n=32},tma-copy{slabs=xs},mark-unroll"


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        (DEFAULT, ""),
        (DEFAULT.replace("n=32", "n=64"), "blockify-launch n=64 (32)"),
        (DEFAULT.replace("xs", "xs,ws"), "tma-copy slabs=xs,ws (xs)"),
        (DEFAULT.replace("mark-unroll", "mark-unroll{limit=8}"), "mark-unroll limit=8 (none)"),
        ("tileify,pad-smem{pad=4},mark-unroll", "with pad-smem{pad=4}, without blockify-launch, "
         "without tma-copy"),
    ],
)  # fmt: skip
def test_differences(schedule: str, says: str) -> None:
    assert differences(schedule, DEFAULT) == says
