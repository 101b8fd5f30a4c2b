# SPDX-License-Identifier: Apache-2.0
"""Test contractions in every layout and element type, with prologues and epilogues."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from tilewright.frontend.expression import Expression, parse_expression


class Sizes(NamedTuple):
    """Sizes of a contraction: rows, columns, steps of K, and batches."""

    m: int
    n: int
    k: int
    b: int


def contraction(case: str, sizes: Sizes, *, fake: bool = False) -> Expression:
    """
    Return the program of `case` with these sizes and its inputs; with `fake`, the inputs have no
    values.
    """
    shapes = {"X": "{m}, {k}", "W": "{k}, {n}", "V": "{n}, {k}"}
    text = CASES[case]
    for name, shape in shapes.items():
        text = re.sub(rf"\b{name}\b", shape, text)
    image = {"c": sizes.k % 9 + 1, "h": sizes.m % 17 + 3, "w": sizes.n % 15 + 3}
    text = text.format(**sizes._asdict(), **image, k3=sizes.k + 3)
    return parse_expression(text, fake=fake)


# X and W stand for the shapes of the two factors, V for the shape of the transposed second factor.
CASES: Mapping[str, str] = {
    "NN": "torch.randn(X) @ torch.randn(W)",
    "NT": "torch.randn(X) @ torch.randn(V).T",
    "TN": "torch.randn({k}, {m}).T @ torch.randn(W)",
    "TT": "torch.einsum('km,nk->mn', torch.randn({k}, {m}), torch.randn(V))",
    "batch inside": "torch.einsum('bmk,nbk->nbm', torch.randn({b}, X), torch.randn({n}, {b}, {k}))",
    "linear": "F.linear(torch.randn({b}, X), torch.randn(V), torch.randn({n}))",
    "batches": "torch.bmm(torch.randn({b}, X), torch.randn({b}, W))",
    "attention": """
q, k, v = torch.randn(1, 2 * {b}, X), torch.randn(1, {b}, V), torch.randn(1, {b}, V)
F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)""",
    "convolution": """
x, w = torch.randn({b}, {c}, {h}, {w}), torch.randn(5, {c}, 3, 2)
F.conv2d(x, w, torch.randn(5), stride=2, padding=1)""",
    "transposed convolution": """
x, w = torch.randn({b}, {c}, {h}, {w}), torch.randn({c}, 5, 3, 3)
F.conv_transpose2d(x, w, stride=2, padding=1)""",
    "silu prologue": "(F.silu(torch.randn(X)) * torch.randn(X)) @ torch.randn(W)",
    "softplus prologue": "F.softplus(torch.randn(X)) @ torch.randn(W)",
    "bias prologue": "(torch.randn(X) + torch.randn({k})) @ torch.randn(W)",
    "constants": "torch.relu((torch.randn(X) + 1) @ (torch.randn(W) - 2))",
    "half": "torch.randn(X).half() @ torch.randn(W).half()",
    "bfloat16": "torch.randn(X).bfloat16() @ torch.randn(W).bfloat16()",
    "float64": "torch.randn(X).double() @ torch.randn(W).double()",
    "int64": "torch.randint(-5, 9, (X)) @ torch.randint(-5, 9, (W))",
    "int32": "torch.randint(-5, 9, (X)).int() @ torch.randint(-5, 9, (W)).int()",
    # Reductions over two operands that are not sums of products.
    "distances": "(torch.randn(X)[:, None] - torch.randn(V)).abs().sum(-1)",
    "largest sum": "(torch.randn(X)[:, None] + torch.randn(V)).amax(-1)",
    "any equal": "(torch.randint(0, 99, (X))[:, None] == torch.randint(0, 99, (V))).any(-1)",
    "argmax": "(torch.randn(X)[:, None] * torch.randn(V)).argmax(-1)",
    "gated": "x = torch.randn(X)\nF.silu(x @ torch.randn(W)) * (x @ torch.randn(W))",
    "embedding": """
rows = F.embedding(torch.randint(0, 50, ({m},)), torch.randn(50, {k}))
rows @ torch.randn(W)""",
    "gathered steps": """
i = torch.randint(0, 50, ({k},))
torch.randn({m}, 50)[:, i] @ torch.randn(50, {n})[i]""",
    "padding": "F.pad(torch.randn(X), (1, 2), value=1.5) @ torch.randn({k3}, {n})",
    "joined steps": "torch.cat([torch.randn(X), torch.randn({m}, 3)], 1) @ torch.randn({k3}, {n})",
}
