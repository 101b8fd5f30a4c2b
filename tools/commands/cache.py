# SPDX-License-Identifier: Apache-2.0
"""Command `tilewright cache`: list or clear the cache of compiled programs."""

import argparse
import sys
from pathlib import Path

from tilewright.codegen.file_cache import (
    KINDS,
    MOST_BYTES,
    VARIABLE,
    clear,
    default_folder,
    kept_in,
    reason_against_folder,
)
from tilewright.errors import UsageError, counted
from tilewright.tools.output.terminal import console, show, table

_MIB = 1 << 20


def run(args: argparse.Namespace) -> int:
    """List or clear the cache, as the action requests; return 0."""
    if (folder := default_folder()) is None:
        print(f"the cache is off: {VARIABLE}=off")
        return 0
    if reason := reason_against_folder(folder):
        raise UsageError(f"the cache is not used: {reason}")
    if args.action == "clear":
        _clear(folder)
    else:
        _list(folder, args.color)
    return 0


def _list(folder: Path, color: str) -> None:
    out = console(color, sys.stdout)
    rows = table("what", "files", "MiB")
    kept = [*kept_in(folder)]
    for suffix, name in KINDS.items():
        sizes = [each.bytes for each in kept if each.path.suffix == suffix]
        rows.add_row(name, str(len(sizes)), f"{sum(sizes) / _MIB:.1f}")
    show(out, rows)
    most = f"at most {MOST_BYTES // _MIB} MiB"
    out.print(f"in {folder}, {most}", markup=False, soft_wrap=True)


def _clear(folder: Path) -> None:
    before = len([*kept_in(folder)])
    try:
        clear(folder)
    except OSError as err:
        raise UsageError(f"the cache is not cleared: {err}") from err
    print(f"deleted {counted(before, 'file')} in {folder}")
