# SPDX-License-Identifier: Apache-2.0
"""Output of `run MODEL`: the likeliest next tokens as a table or JSON, and the logits as a file."""

import math
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from tilewright.arrays import tensor_of
from tilewright.codegen.plan_text import launches_text
from tilewright.models.prompt import Prompt
from tilewright.tools.output.output_path import write_bytes
from tilewright.tools.output.report import Report, print_outputs, print_verdict
from tilewright.tools.output.static_report import print_static_report
from tilewright.tools.output.terminal import show, table

Logits = NDArray[Any]
"""Logits of shape `(1, tokens, vocabulary)`."""

_SHOWN = 5
"""Number of likeliest next tokens in the output."""


def next_tokens(prompt: Prompt, logits: Logits) -> list[dict[str, Any]]:
    """
    Return the likeliest next tokens of the prompt: `token`, `logit`, and `text` if there is a
    tokenizer.

    Of equal logits the lower token is first; a logit that is not finite becomes None.
    """
    last = logits[0, -1].astype(np.float64)
    best = [int(token) for token in np.argsort(-last, kind="stable")[:_SHOWN]]
    return [_row(prompt, token, float(last[token])) for token in best]


def _row(prompt: Prompt, token: int, logit: float) -> dict[str, Any]:
    row = {"token": token, "logit": logit if math.isfinite(logit) else None}
    text = prompt.text_of([token])
    return row if text is None else {**row, "text": text}


def print_next_tokens(prompt: Prompt, report: Report, out: Console) -> None:
    """Print the prompt, its likeliest next tokens, and the comparison of the logits."""
    launches = launches_text([kernel.launch for kernel in report.execution.kernels])
    out.print(f"device {report.device}, target {report.target}, {launches}", markup=False)
    out.print(f"prompt {' '.join(map(str, prompt.tokens))}\n", markup=False)
    rows = next_tokens(prompt, report.execution.results[0])
    columns = [name for name in ("token", "logit", "text") if name in rows[0]]
    shown = table(*columns, numbers=("token", "logit"))
    for row in rows:
        shown.add_row(*(_cell(row[name]) for name in columns))
    show(out, shown)
    if report.compared:
        out.print()
        print_outputs(report, out)
    if report.static is not None:
        out.print()
        print_static_report(report.static, out)
    print_verdict(report, out, "--check compares with transformers")


def _cell(value: int | float | str | None) -> str | Text:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.4f}"
        case _:
            return Text(repr(value))  # `Text` shows brackets, which are markup in a string


def write_logits(logits: Logits, path: str) -> None:
    """Write a safetensors file with the tensor `logits`."""
    content: bytes = import_module("safetensors.torch").save({"logits": tensor_of(logits)})
    write_bytes(path, content)
