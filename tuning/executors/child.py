# SPDX-License-Identifier: Apache-2.0
"""
A process of an `IsolatedExecutor`: it reads calls and writes results.

    {"started": true}                       once
    {"call": "..."}                         a request: a function with its arguments, packed
    {"phase": "timing"}                     what a function begins (`report_phase`)
    {"result": "..."}                       what it gives, packed, or
    {"error": "..."}                        what it has raised, or
    {"error": "...", "lost": true}          also the end of the process: it is of no more use
"""

import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from threading import Event, Thread

from tilewright.codegen.timing.isolated import Reply, Send, own_stdout, requests, sender
from tilewright.errors import TilewrightError
from tilewright.tuning.executors.isolated import packed, unpacked


class SpoiledError(TilewrightError):
    """Error raised by a call that leaves its process unusable."""


_senders: list[Send] = []
"""Functions that send to the parent process; none in any other process."""


def report_phase(phase: str) -> None:
    """Send a sign of life: the phase that the call begins, which may take time."""
    for send in _senders:
        send({"phase": phase})


@contextmanager
def heartbeat(phase: str, seconds: float = 1.0) -> Generator[None]:
    """Send signs of life from a thread during work that is long but certain to end."""
    done = Event()

    def beat() -> None:
        report_phase(phase)
        while not done.wait(seconds):
            report_phase(phase)

    beats = Thread(target=beat, daemon=True)
    beats.start()
    try:
        yield
    finally:
        done.set()
        beats.join()


def serve(requests: Iterable[str], send: Send) -> None:
    """Answer calls until there are no more, or the process is unusable."""
    _senders[:] = [send]
    send({"started": True})
    for line in requests:
        reply = answer(json.loads(line)["call"])
        send(reply)
        if "lost" in reply:
            return


def answer(call: str) -> Reply:
    """Return the reply to a call: its result or its error."""
    try:
        function, args, kwargs = unpacked(call)
        return {"result": packed(function(*args, **kwargs))}
    except SpoiledError as err:
        return {"error": str(err), "lost": True}
    except TilewrightError as err:
        return {"error": str(err)}
    except Exception as err:  # of any kind: the caller gets it
        return {"error": f"{type(err).__name__}: {err}"}


def main() -> None:
    """
    Run the process; not with `python -m`, where functions would import another `report_phase`.
    """
    serve(requests(), sender(own_stdout()))
