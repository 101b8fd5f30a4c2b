# SPDX-License-Identifier: Apache-2.0
"""Second ranking of the schedules that a model ranks best, by the machine code from NVRTC."""

import argparse
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tilewright.codegen import nvrtc
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.tools.tune.evaluation import cores, isolated
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.kernels import Kernel
from tilewright.tuning.evaluators.evidence import evaluator, evidence, shortlist
from tilewright.tuning.executors.isolated import IsolatedExecutor
from tilewright.tuning.kernel_key import nvrtc_version
from tilewright.tuning.key import Key
from tilewright.tuning.measurement import Measurement


@dataclass
class Shortlist:
    """Shortlist of schedules, which other processes compile in parallel."""

    target: str
    count: int
    executor: IsolatedExecutor

    def key(self, kernel: Kernel) -> Key:
        """Return the key of times by machine code, which depend on the version of NVRTC."""
        return kernel.key(self.target, evaluator(), nvrtc=nvrtc_version())

    def measurements(self, kernel: Kernel, found: Findings) -> Iterator[Measurement]:
        """
        Yield the times of the default and of the best schedules, in the order of the model's
        ranking.
        """
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
    """
    Yield the shortlist that the arguments request, or None. Raises `NvrtcUnavailable` without
    NVRTC.
    """
    if args.shortlist is None:
        yield None
        return
    nvrtc.version()  # raises an error without NVRTC
    with isolated(args.jobs or cores(), args.limit) as executor:
        yield Shortlist(target, args.shortlist, executor)
