# SPDX-License-Identifier: Apache-2.0
"""
Entry points of the commands: an interrupt ends them without a traceback, even during imports.

This module imports only modules that Python has already loaded at its start.
"""

from importlib import import_module

INTERRUPTED = 130
"""Exit code after an interrupt: 128 plus the number of SIGINT, as in shells."""


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
