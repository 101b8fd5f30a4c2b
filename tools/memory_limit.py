# SPDX-License-Identifier: Apache-2.0
"""
A limit on the memory of this process: beyond it Python raises `MemoryError`, which is reported, in
place of the operating system ending this process or another one.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

_SHARE = 0.9
"""Share of the machine's memory that one process may take."""

_OF_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def limit_memory(most: int | None = None) -> None:
    """Limit the memory that this process allocates to `most` bytes, by default 90 % of all."""
    if find_spec("resource") is None:  # Windows
        return
    resource = import_module("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [int(_SHARE * _memory()) if most is None else most, soft, hard]
    known = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(known), hard))


def _memory() -> int:
    """Bytes of memory of the machine, or of the container if that has less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        container = int(_OF_CONTAINER.read_text())
    except (OSError, ValueError):  # no container, or one without a limit
        return machine
    return min(machine, container)
