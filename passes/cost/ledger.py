# SPDX-License-Identifier: Apache-2.0
"""
The cost ledger: one line with the changes that a rewrite made to the cost of kernels.

    ledger: global 512 KiB -> 256 KiB, smem 0 -> 8192 B, occupancy 16 -> 8 blocks/SM
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from tilewright.dialects import kernel, loop
from tilewright.dialects.target import Target
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.launch_cost import KernelCost


@dataclass(frozen=True)
class Cost:
    """Cost of each launch of a module; a kernel that is never launched counts as one launch."""

    launches: tuple[KernelCost, ...]
    is_complete: bool = True
    """
    True if the costs of all kernels are known. Kernels in CUDA IR have no known cost, because they
    follow Kernel IR line by line.
    """


def cost(scope: Operation) -> Cost:
    """
    Return the cost of all launches in `scope`; a kernel in `scope` without a launch counts as one
    launch.
    """
    known: dict[Operation, KernelCost] = {}
    launched = [callee for callee in map(_callee, scope.walk()) if callee is not None]
    alone = [op for op in scope.walk() if _is_kernel(op) and op not in launched]
    kernels = [*launched, *alone]
    for op in kernels:
        if op not in known and isinstance(op, loop.KernelOp | kernel.FuncOp):
            known[op] = kernel_cost(op)
    costs = tuple(known[op] for op in kernels if op in known)
    return Cost(costs, is_complete=len(costs) == len(kernels))


def _callee(op: Operation) -> Operation | None:
    return SymbolTable.lookup_symbol(op, op.kernel) if isinstance(op, loop.LaunchOp) else None


def _is_kernel(op: Operation) -> bool:
    return op.name in ("loop.kernel", "kernel.func", "cuda.func")


def ledger(before: Cost, after: Cost, target: Target) -> str:
    """Return one line with the changes from `before` to `after` on `target`."""
    if not (before.is_complete and after.is_complete):
        return "ledger: not estimated for CUDA IR"
    if not (before.launches or after.launches):
        return "ledger: no kernels yet"
    changes = list(_changes(before, after, target))
    return f"ledger: {', '.join(changes) or 'no change in cost'}"


def figures(cost: Cost, target: Target) -> str:
    """
    Return one line with all figures of `cost` on `target` except the number of kernels, such as
    `global 512 KiB, smem 0 B`.
    """
    found = ((entry, entry.value(cost, target)) for entry in _ENTRIES if entry is not _KERNELS)
    return ", ".join(f"{e.name} {e.text(value)}{e.unit}" for e, value in found if value is not None)


class _Entry(NamedTuple):
    """
    A figure of the ledger: its name, the function that computes it from a cost, its format and its
    unit.
    """

    name: str
    value: Callable[[Cost, Target], float | None]
    text: Callable[[float], str]
    unit: str = ""


def _changes(before: Cost, after: Cost, target: Target) -> Iterator[str]:
    for entry in _ENTRIES:
        old, new = entry.value(before, target), entry.value(after, target)
        texts = [entry.text(value) for value in (old, new) if value is not None]
        if new is not None and (old is None or texts[0] != texts[1]):
            yield f"{entry.name} {' -> '.join(texts)}{entry.unit}"


def bytes_text(value: float) -> str:
    """Format a number of bytes with a binary unit: `1.5 KiB`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{value:.0f} B"


def _count(cost: Cost, _: Target) -> int:
    return len(cost.launches)


def _total(name: str) -> Callable[[Cost, Target], float]:
    return lambda cost, _: sum(getattr(launch, name) for launch in cost.launches)


def _most(name: str) -> Callable[[Cost, Target], float | None]:
    """
    Return a function that gives the largest value of the field `name` over all launches of a cost;
    None before kernels are scheduled.
    """
    return lambda cost, _: max((getattr(c, name) for c in cost.launches), default=0) or None


def _shared(cost: Cost, _: Target) -> int:
    return max((launch.shared_bytes for launch in cost.launches), default=0)


def _occupancy(cost: Cost, target: Target) -> int | None:
    found = [blocks for c in cost.launches if (blocks := c.occupancy(target)) is not None]
    return min(found, default=None)


def _bank_factor(cost: Cost, _: Target) -> float | None:
    ideal = sum(launch.ideal_wavefronts for launch in cost.launches)
    return sum(launch.wavefronts for launch in cost.launches) / ideal if ideal else None


def _microseconds(cost: Cost, target: Target) -> float:
    return 1e6 * sum(launch.seconds(target) for launch in cost.launches)


_KERNELS = _Entry("kernels", _count, "{:.0f}".format)

# Entries in the order of the line. Several launches are summed; the resources of a block show the
# largest value, and the occupancy shows the smallest.
_ENTRIES = (
    _KERNELS,
    _Entry("global", _total("global_bytes"), bytes_text),
    _Entry("accessed", _total("accessed_bytes"), bytes_text),
    _Entry("smem", _shared, "{:.0f}".format, " B"),
    _Entry("barriers", _total("barriers"), "{:.4g}".format),
    _Entry("blocks", _most("blocks"), "{:.0f}".format),
    _Entry("threads", _most("threads"), "{:.0f}".format),
    _Entry("registers", _most("registers"), "{:.0f}".format),
    _Entry("occupancy", _occupancy, "{:.0f}".format, " blocks/SM"),
    _Entry("bank factor", _bank_factor, "{:.2f}".format),
    _Entry("estimate", _microseconds, "{:.2f}".format, " us"),
)
