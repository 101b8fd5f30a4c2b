# SPDX-License-Identifier: Apache-2.0
"""
The process that checks: it reads `{"item": NAME}` and writes an outcome, JSON objects, one a line.

It ends after the first error on a GPU, of which a process may not recover.
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
    """Answer requests until there are no more, or the device may be lost."""
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
        return wrong(_told(err)), True


def _told(err: Exception) -> str:
    """Return an error in one line: ours as we tell them, others with their place."""
    explained = explain(err)[0]
    says = str(err) if explained.startswith("Traceback") else explained
    lines = [line.strip() for line in says.splitlines() if line.strip()]
    where = "".join(
        f" ({_short(f.filename)}:{f.lineno})" for f in extract_tb(err.__traceback__)[-1:]
    )
    return f"{type(err).__name__}: {' '.join(lines)[:600]}{where}"


def _short(file: str) -> str:
    """Return a path without the folders of this machine, for results are published."""
    _, is_package, inside = file.rpartition("site-packages/")
    return inside if is_package else file.removeprefix(f"{ROOT}/")


def main(stage: Stage, device: Device) -> int:
    """Check what the standard input asks for, until it ends."""
    serve(stage, device, requests(), sender(own_stdout()))
    return 0
