# SPDX-License-Identifier: Apache-2.0
"""All ops are exported by `dialects.torch`, so no two families may define the same name."""

from collections import Counter

from tilewright.dialects import torch


def test_no_op_hides_another() -> None:
    hidden = [op for op in torch.OPS if getattr(torch, op.__name__) is not op]
    assert hidden == []


def test_names_are_given_once() -> None:
    for names in ([op.name for op in torch.OPS], [op.ATEN for op in torch.OPS]):
        assert [name for name, count in Counter(names).items() if count > 1] == []
