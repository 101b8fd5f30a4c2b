# SPDX-License-Identifier: Apache-2.0
"""Supervisor whose workers give the answers that a test sets: `fake_bench_worker.py`."""

import json
import sys
from pathlib import Path
from typing import Any

from tilewright.tools.bench.suite import Case
from tilewright.tools.bench.supervisor import Supervisor

FAKE = Path(__file__).with_name("fake_bench_worker.py")
ENVIRONMENT = {"gpu": "none"}


class Faked(Supervisor):
    """Supervisor of fake workers."""

    def __init__(self, folder: Path, limit_s: float = 60, **answers: Any):
        path = folder / "answers.json"
        known = {"environment": ENVIRONMENT, "row": {"problem": ""}, **answers}
        path.write_text(json.dumps(known))
        self.log = folder / "log"
        super().__init__([sys.executable, str(FAKE), str(path), str(self.log)], limit_s)

    def asked(self) -> list[str]:
        """Return each start and each request of the workers, in order."""
        return self.log.read_text().split()


def case(name: str) -> Case:
    """Return a benchmark case called `name`."""
    return Case(name, "relu", "torch.relu(t0)", ((4,),), {}, 1, 1, 1, 1.0)
