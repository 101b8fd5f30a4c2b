# SPDX-License-Identifier: Apache-2.0
"""
Memory of the machine, or of the container (control group, version 1 or 2) if it has less.

The files are documented in Linux's `cgroup-v2.rst` and `cgroup-v1/memory.rst`.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""
Control groups of version 2 and of version 1: the folder, the file with the limit, and the file with
the usage.
"""

_MISSING = (OSError, ValueError, KeyError)


def total_memory() -> int | None:
    """
    Return the memory in bytes of the machine, or of the container if that has less; None if the
    system does not report it.
    """
    limits = (limit for limit, _ in _containers())
    return min([*_physical(), *limits], default=None)


def available_memory() -> int | None:
    """
    Return the bytes that the process can still allocate, or None if the system does not report
    them.
    """
    left = (max(0, limit - used) for limit, used in _containers())
    return min([*(_unused() or _physical()), *left, *_process_limit()], default=None)


def _physical() -> list[int]:
    """Return a list with the machine's physical memory in bytes; an empty list if it is unknown."""
    try:
        return [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (*_MISSING, AttributeError):  # Windows
        return []


def _unused() -> list[int]:
    """
    Return a list with the machine's free memory in bytes, including caches that can be dropped; an
    empty list if it is unknown.
    """
    try:
        return [_field(Path("/proc/meminfo"), "MemAvailable:") * 1024]
    except _MISSING:
        return []


def _containers() -> Iterator[tuple[int, int]]:
    """
    Yield, for each control group with a limit, the limit and the used bytes without those that can
    be reclaimed.
    """
    for folder, limit, usage in GROUPS:
        with suppress(*_MISSING):  # no such group, or `max` for no limit
            path = Path(folder)
            bound, used = (int((path / name).read_text()) for name in (limit, usage))
            yield bound, used - _reclaimable(path)


def _reclaimable(group: Path) -> int:
    """
    Return the bytes of cached files in a control group, which Linux drops if memory is needed.
    """
    with suppress(*_MISSING):
        return _field(group / "memory.stat", "inactive_file")
    return 0


def _field(path: Path, name: str) -> int:
    """Return the number after `name` in a file whose lines are names and numbers."""
    fields = dict(line.split()[:2] for line in path.read_text().splitlines())
    return int(fields[name])


def _process_limit() -> Iterator[int]:
    """Yield the remaining bytes of the address space, if `ulimit -v` limits it."""
    with suppress(ImportError, *_MISSING):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield max(0, limit - pages * resource.getpagesize())
