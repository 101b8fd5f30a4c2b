# SPDX-License-Identifier: Apache-2.0
"""Initial state of each test of `torch.compile`."""

from collections.abc import Iterator

import pytest
import torch
from torch._dynamo import reset

from tilewright.frontend.warnings_once import forget


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Reset Dynamo and the warnings already given, and turn gradients off."""
    reset()
    forget()
    with torch.no_grad():
        yield
