# SPDX-License-Identifier: Apache-2.0
"""Scopes of strong accesses and fences: the threads that they include. PTX ISA, "Scope"."""

from enum import IntEnum

from tilewright.codegen.simulator.operands import Instruction

SCOPES = ("cta", "cluster", "gpu", "sys", "gl")
_STRONG = ("relaxed", "acquire", "release", "acq_rel", "volatile")


class Level(IntEnum):
    """Threads that a scope includes; a larger level includes those of a smaller one."""

    BLOCK = 0
    CLUSTER = 1
    DEVICE = 2


_LEVELS = {"cta": Level.BLOCK, "cluster": Level.CLUSTER}
"""Levels of the scopes that do not include all threads of the launch."""


def scope_of(instruction: Instruction) -> str | None:
    """Return the scope of a strong access (`gpu` if it names none); None for a weak access."""
    parts = instruction.parts
    if instruction.root not in ("atom", "red") and not set(parts) & set(_STRONG):
        return None
    named = [part for part in parts if part in SCOPES]
    return named[0] if named else "gpu"


def level_of(scope: str | None) -> Level:
    """Return the level of a scope; the device for None."""
    return _LEVELS.get(scope or "", Level.DEVICE)
