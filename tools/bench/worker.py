# SPDX-License-Identifier: Apache-2.0
"""
Process that measures: it reads requests and writes replies, one JSON object per line.

    {"case": {...}, "left_out": {...}}      a request (`request`)
    {"environment": {...}}                  reply after the start
    {"phase": "ours: compiling"}            reply at the beginning of each phase
    {"row": {...}}                          reply at the end of a case
    {"row": {...}, "lost": true}            last reply: a kernel made the device unusable

Output of kernels and compilers goes to stderr.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence

from tilewright.codegen.timing.isolated import Send, own_stdout, requests, sender
from tilewright.errors import TilewrightError
from tilewright.tools.bench.contest import Contest, DeviceLostError
from tilewright.tools.bench.launches import each_launch
from tilewright.tools.bench.request import AnyCase, case_of
from tilewright.tools.bench.row import Row, failed, head, measured
from tilewright.tools.bench.suite import Case
from tilewright.tools.bench.workload import workload_of_case
from tilewright.tools.options.database import add_database, database_of
from tilewright.tools.options.precision import add_precision
from tilewright.tools.toolkit import use_cuda_home


def serve(
    contest: Contest, requests: Iterable[str], send: Send, precision: str | None = None
) -> None:
    """
    Measure a case for each request, in a precision of float32 products, until the requests end or
    the device is lost.
    """
    for line in requests:
        request = json.loads(line)
        case = case_of(request)
        try:
            send({"row": answer(contest, case, request["left_out"], send, precision)})
        except DeviceLostError as err:
            send({"row": failed(case, f"failed: {err.message}"), "lost": True})
            return


def answer(
    contest: Contest,
    case: AnyCase,
    left_out: dict[str, str],
    send: Send,
    precision: str | None = None,
) -> Row:
    """
    Measure a case in a precision of float32 products, and return its row. Raises `DeviceLostError`
    if the device is lost.
    """
    try:
        send({"phase": "capturing"})
        workload = workload_of_case(case, precision)
        outcome = contest.run(workload, lambda phase: send({"phase": phase}), left_out)
    except DeviceLostError:
        raise
    except TilewrightError as err:
        return failed(case, f"failed: {err}")
    row = head(case) | measured(outcome)
    if isinstance(case, Case) or row["problem"]:
        return row
    send({"phase": "ours: each launch"})
    return row | {"launches": each_launch(contest, workload)}


def main(argv: Sequence[str]) -> None:
    """Measure on the GPU until the standard input ends."""
    from tilewright.tools.bench.environment import environment
    from tilewright.tools.bench.gpu import gpu_contest

    parser = argparse.ArgumentParser()
    parser.add_argument("--backends", required=True)
    add_database(parser)
    add_precision(parser)
    args = parser.parse_args(argv)
    send = sender(own_stdout())
    use_cuda_home()
    db = database_of(args)
    backends, precision = [n for n in args.backends.split(",") if n], args.matmul_precision
    contest = gpu_contest(backends, db=db, precision=precision)
    send({"environment": environment(contest.device, contest.contestants, db)})
    serve(contest, requests(), send, precision)


if __name__ == "__main__":
    main(sys.argv[1:])
