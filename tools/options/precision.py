# SPDX-License-Identifier: Apache-2.0
"""Option of commands that compile: the precision of float32 matrix products and convolutions."""

import argparse

from tilewright.tools.options.command import Options

PRECISIONS = ("highest", "high", "medium")
"""Words of `tilewright.dialects.precision.WORDS`."""


def add_precision(options: Options, default: str = "highest") -> None:
    """Add `--matmul-precision`; `default` names the default in the help."""
    options.add_argument(
        "--matmul-precision",
        type=_precision,
        choices=PRECISIONS,
        help="precision of float32 matrix products and convolutions, as in "
        "torch.set_float32_matmul_precision: highest; high: factors may be rounded to tf32; "
        "medium: factors of matrix products may be rounded to bfloat16, those of convolutions to "
        f"tf32; default: {default}",
    )


def _precision(text: str) -> str:
    if text not in PRECISIONS:
        words = ", ".join(PRECISIONS)
        raise argparse.ArgumentTypeError(f"unknown precision '{text}' (known: {words})")
    return text


def precision_argv(precision: str | None) -> list[str]:
    """Return the arguments of a command in another process that select a precision."""
    return [] if precision is None else ["--matmul-precision", precision]
