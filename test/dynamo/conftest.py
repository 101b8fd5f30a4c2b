# SPDX-License-Identifier: Apache-2.0
"""What each test of `torch.compile` begins with."""

from collections.abc import Iterator

import pytest
import torch
from torch._dynamo import reset

from tilewright.frontend.telling import forget


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing compiled, and nothing told."""
    reset()
    forget()
    with torch.no_grad():
        yield
