# SPDX-License-Identifier: Apache-2.0
"""
Results that PyTorch returns as views, although no schema declares them, are captured as views.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tilewright import api

VIEWS: dict[str, Callable[[Any], Any]] = {
    "F.dropout": lambda x: F.dropout(x, 0.5, training=False),
    "F.dropout by position": lambda x: F.dropout(x, 0.5, False),
    "torch.dropout": lambda x: torch.dropout(x, 0.5, False),
    "torch.dropout by name": lambda x: torch.dropout(input=x, p=0.5, train=False),
    "feature": lambda x: torch.feature_dropout(x, 0.5, False),
    "alpha": lambda x: F.alpha_dropout(x, 0.5),
    "module": torch.nn.Dropout(0.3).eval(),
    "module in place": torch.nn.Dropout(0.3, inplace=True).eval(),
    "einsum, the same": lambda x: torch.einsum("ij->ij", x),
    "einsum, transposed": lambda x: torch.einsum("ij->ji", x),
    "einsum, in a list": lambda x: torch.einsum("i...->...i", [x]),
    "einsum, diagonal": lambda x: torch.einsum("ii->i", x),
    "einsum, without an arrow": lambda x: torch.einsum("ba", x),
    "einsum, of dots": lambda x: torch.einsum("i...i->...i", x[:, None]),
    "unsafe chunk": lambda x: x.unsafe_chunk(3)[1],
    "unsafe split": lambda x: x.unsafe_split(2)[0],
    "unsafe split with sizes": lambda x: x.unsafe_split_with_sizes([1, 2])[1],
    "einsum, no view": lambda x: torch.einsum("ij->i", x),
}


class Called(torch.nn.Module):
    """Function as a module, which PyTorch can export."""

    def __init__(self, function: Callable[[Any], Any]):
        super().__init__()
        self.forward = function


EXPORTED = ("F.dropout", "einsum, diagonal", "unsafe split")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "exports"), [*((name, False) for name in VIEWS), *((name, True) for name in EXPORTED)]
)
def test_what_is_written_to_a_view_is_seen(name: str, exports: bool) -> None:
    view = VIEWS[name]

    def program(x: Any) -> Any:
        own = x * 1.5
        first, second = view(x), view(own)
        first.add_(1)
        own.mul_(3)
        return x * 2, second + 1

    x, expected_x = torch.arange(9.0).reshape(3, 3), torch.arange(9.0).reshape(3, 3)
    given = torch.export.export(Called(program), (x,)) if exports else program
    found = api.interpret(api.capture(given, x), x)
    for one, other in zip([*found, x], [*program(expected_x), expected_x], strict=True):
        torch.testing.assert_close(torch.as_tensor(one), other)
