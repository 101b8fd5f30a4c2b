# SPDX-License-Identifier: Apache-2.0
"""The schedules that a model likes best, once more, by what NVRTC makes of them."""

import argparse
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tilewright.codegen import nvrtc
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.tools.tune.evaluation import cores, isolated
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.kernels import Kernel
from tilewright.tuning.evaluators.evidence import evidence, shortlist
from tilewright.tuning.executors.isolated import IsolatedExecutor
from tilewright.tuning.kernel_key import nvrtc_version
from tilewright.tuning.key import Key
from tilewright.tuning.measurement import Measurement


@dataclass
class Shortlist:
    """Compiles the best schedules of each kernel, side by side."""

    target: str
    count: int
    executor: IsolatedExecutor

    def key(self, kernel: Kernel) -> Key:
        """Estimates of machine code are of what NVRTC has made."""
        return kernel.key(self.target, "evidence", nvrtc=nvrtc_version())

    def measurements(self, kernel: Kernel, found: Findings) -> Iterator[Measurement]:
        """Yield the default's and those of the best, in the order in which the model likes them."""
        assert found.default is not None
        best = shortlist(found.measurements, self.count)
        schedules = [*dict.fromkeys([found.default.schedule, *best])]
        text = kernel.text
        futures = [self.executor.submit(evidence, text, each, self.target) for each in schedules]
        for schedule, future in zip(schedules, futures, strict=True):
            try:
                yield future.result()
            except WorkerLost as err:
                yield Measurement(schedule, None, str(err))


@contextmanager
def shortlist_of(args: argparse.Namespace, target: str) -> Generator[Shortlist | None]:
    """What the arguments ask for; None if that is nothing. Raises `NvrtcUnavailable`."""
    if args.shortlist is None:
        yield None
        return
    nvrtc.version()  # raises where there is none
    with isolated(args.jobs or cores(), args.limit) as executor:
        yield Shortlist(target, args.shortlist, executor)
