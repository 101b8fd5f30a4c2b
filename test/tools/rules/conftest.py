# SPDX-License-Identifier: Apache-2.0
"""Rules that the tests of this folder check: ten that are right, and ten that are wrong."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.fixture
def right() -> str:
    """Path of the ten rules that are right."""
    return str(FOLDER / "right_rules.py")


@pytest.fixture
def wrong() -> str:
    """Path of the ten rules that are wrong."""
    return str(FOLDER / "wrong_rules.py")
