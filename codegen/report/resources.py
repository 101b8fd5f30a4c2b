# SPDX-License-Identifier: Apache-2.0
"""
Resources of each kernel's threads and blocks, from the verbose log of ptxas.

    ptxas info    : Compiling entry function 'rms_norm' for 'sm_90a'
    ptxas info    : Function properties for rms_norm
    ptxas         .     40 bytes stack frame, 36 bytes spill stores, 36 bytes spill loads
    ptxas info    : Used 40 registers, used 1 barriers, 32 bytes smem

A cubin has these numbers in sections of undocumented layout, and does not record spills. Reference:
CUDA Compiler Driver NVCC, "--resource-usage".
"""

import re
from dataclasses import dataclass

from tilewright.dialects.target import Target
from tilewright.errors import TilewrightError


@dataclass(frozen=True)
class Resources:
    """Resources of a kernel, compiled for one target."""

    registers: int
    """Number of 32-bit registers of a thread."""
    stack_bytes: int
    """
    Local memory of a thread in bytes: spilled registers, and arrays that are not in registers.
    """
    spill_store_bytes: int
    """Bytes that a thread's spill stores move together if each of them runs once."""
    spill_load_bytes: int
    static_shared_bytes: int
    """Shared memory of a block that the kernel declares with a fixed size, in bytes."""
    barriers: int
    """Number of a block's barriers; the hardware has 16."""
    register_limit: int = 255
    """Most registers that the compiler may give a thread, by the kernel's `__launch_bounds__`."""

    @property
    def spills(self) -> bool:
        """True if the kernel spills registers to memory."""
        return self.spill_store_bytes + self.spill_load_bytes > 0


_THREADS = re.compile(r"\.maxntid (\d+)")
_BLOCKS = re.compile(r"\.minnctapersm (\d+)")
_ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def parse_resources(log: str) -> dict[str, Resources]:
    """
    Return the resources of each kernel by name, from the log of `nvrtc.compile_cubin`.

    Raises `TilewrightError` if the log does not contain them.
    """
    _, *parts = _ENTRY.split(log)
    return {
        name: _resources(name, text) for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def register_limit(ptx: str, name: str, target: Target) -> int:
    """
    Return the most registers of a thread that leave room for the blocks that the kernel `name` of
    the PTX requires: `.minnctapersm` blocks, or one, of `.maxntid` threads.
    """
    directives = ptx.partition(f".entry {name}(")[2].partition("{")[0]
    threads, blocks = (pattern.search(directives) for pattern in (_THREADS, _BLOCKS))
    if threads is None:
        return target.max_registers_per_thread
    return target.registers_given(int(threads[1]), int(blocks[1]) if blocks else 1)


def _resources(name: str, text: str) -> Resources:
    """
    Return the resources in the text after a kernel's name, whose first lines are the kernel's own;
    lines of functions that it calls follow.
    """
    frame = _FRAME.search(text)
    used = next((line for line in text.splitlines() if " registers" in line), None)
    if frame is None or used is None:
        raise TilewrightError(f"the log of NVRTC does not say what kernel '{name}' uses: {text}")
    stack, stores, loads = map(int, frame.groups())
    return Resources(
        _number(used, "registers"),
        stack,
        stores,
        loads,
        _number(used, "bytes smem"),
        _number(used, "barriers"),
    )


def _number(text: str, unit: str) -> int:
    found = re.search(rf"(\d+) {unit}", text)
    return int(found[1]) if found else 0
