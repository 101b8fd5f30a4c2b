# SPDX-License-Identifier: Apache-2.0
"""
Process that runs checks: it reads `{"item": NAME}` and writes outcomes, one JSON object per line.

The process exits after the first error on a GPU, from which it may not recover.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from time import monotonic
from traceback import extract_tb

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, wrong
from gpu_checks.places import ROOT
from gpu_checks.stage import Stage
from tilewright.codegen.timing.isolated import Send, own_stdout, requests, sender
from tilewright.tools.output.diagnostics import explain


def serve(stage: Stage, device: Device, requests: Iterable[str], send: Send) -> None:
    """Answer requests until their end, or until the first error on a GPU."""
    for line in requests:
        begin = monotonic()
        outcome, is_lost = _checked(stage, device, json.loads(line)["item"])
        send(replace(outcome, seconds=round(monotonic() - begin, 3)).json)
        if is_lost and device.is_gpu:
            return


def _checked(stage: Stage, device: Device, item: str) -> tuple[Outcome, bool]:
    try:
        return stage.check(device, item), False
    except Exception as err:
        return wrong(_error_line(err)), True


def _error_line(err: Exception) -> str:
    """Return an error in one line: our errors as users see them, others with their place."""
    explained = explain(err)[0]
    says = str(err) if explained.startswith("Traceback") else explained
    lines = [line.strip() for line in says.splitlines() if line.strip()]
    where = "".join(
        f" ({_short(f.filename)}:{f.lineno})" for f in extract_tb(err.__traceback__)[-1:]
    )
    return f"{type(err).__name__}: {' '.join(lines)[:600]}{where}"


def _short(file: str) -> str:
    """Return a path without machine-specific folders, because results are published."""
    _, is_package, inside = file.rpartition("site-packages/")
    return inside if is_package else file.removeprefix(f"{ROOT}/")


def main(stage: Stage, device: Device) -> int:
    """Run the requested checks until the standard input ends."""
    serve(stage, device, requests(), sender(own_stdout()))
    return 0
