# SPDX-License-Identifier: Apache-2.0
"""
Limit on the memory of this process. Beyond it Python raises `MemoryError`, which is reported;
without it the operating system might kill this or another process.
"""

from importlib import import_module
from importlib.util import find_spec

from tilewright.machine_memory import total_memory

_SHARE = 0.9
"""Share of the machine's memory that one process may use."""


def limit_memory(most: int | None = None) -> None:
    """
    Limit the memory that this process allocates to `most` bytes, by default to 90 % of the
    machine's.
    """
    if find_spec("resource") is None:  # Windows
        return
    resource = import_module("resource")
    if most is None and (total := total_memory()) is not None:
        most = int(_SHARE * total)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    limits += [] if most is None else [most]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits, default=soft), hard))
