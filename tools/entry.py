# SPDX-License-Identifier: Apache-2.0
"""
Entry points of the commands: an interruption ends them quietly, while modules are imported too.

Nothing is imported here but what Python has loaded already.
"""

from importlib import import_module

INTERRUPTED = 130
"""The exit code after an interruption: 128 and the number of SIGINT, as shells have it."""


def tilewright() -> int:
    """Run `tilewright` with the arguments of the process; return its exit code."""
    return _run("tilewright.tools.cli")


def opt_tool() -> int:
    """Run `opt-tool` with the arguments of the process; return its exit code."""
    return _run("tilewright.tools.opt_tool")


def _run(module: str) -> int:
    try:
        return import_module(module).main()
    except KeyboardInterrupt:
        return INTERRUPTED
