# SPDX-License-Identifier: Apache-2.0
"""
What ops do besides computing their results, asked until the answer is known.

xDSL's `get_effects` collects the effects of all that an op contains before anyone looks at them; to
ask that of each op of a nest takes its depth times as long.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import (
    EffectInstance,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)

from tilewright.dialects.nested_ops import ops_in


def only_has(op: Operation, allowed: Callable[[EffectInstance], bool]) -> bool:
    """Whether all effects of `op`, and of what it contains, are known and `allowed`."""
    if (effects := _fixed_effects(type(op))) is not None:  # most ops
        return all(map(allowed, effects))
    traits = _effect_traits(type(op))
    return bool(traits) and all(_only_has(op, trait, allowed) for trait in traits)


def _only_has(
    op: Operation, trait: MemoryEffect, allowed: Callable[[EffectInstance], bool]
) -> bool:
    if isinstance(trait, RecursiveMemoryEffect):
        return all(only_has(inner, allowed) for inner in _contained(op))
    effects = trait.get_effects(op)
    return effects is not None and all(map(allowed, effects))


def _contained(op: Operation) -> Iterator[Operation]:
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


_FIXED: dict[type[MemoryEffect], Sequence[EffectInstance]] = {
    NoMemoryEffect: (),
    Pure: (),
    MemoryReadEffect: (EffectInstance(MemoryEffectKind.READ),),
    MemoryWriteEffect: (EffectInstance(MemoryEffectKind.WRITE),),
}
"""Effects of ops with a trait, by traits that give all such ops the same."""


@cache
def _fixed_effects(kind: type[Operation]) -> Sequence[EffectInstance] | None:
    """Effects of all ops of `kind`, whatever they contain; None where that depends on the op."""
    traits = _effect_traits(kind)
    if not traits or any(type(trait) not in _FIXED for trait in traits):
        return None
    return [effect for trait in traits for effect in _FIXED[type(trait)]]


@cache
def _effect_traits(kind: type[Operation]) -> tuple[MemoryEffect, ...]:
    return tuple(kind.get_traits_of_type(MemoryEffect))


def is_pure(op: Operation) -> bool:
    """Whether `op` only computes."""
    return only_has(op, lambda effect: False)


def only_reads(op: Operation) -> bool:
    """Whether `op` computes, and reads memory at most."""
    return only_has(op, _is_read)


def _is_read(effect: EffectInstance) -> bool:
    return effect.kind is MemoryEffectKind.READ


def is_dead(op: Operation) -> bool:
    """Whether nobody can tell that `op` was run: it may go."""
    for result in op.results:
        if result.first_use is not None:
            return False
    if _stays(type(op)):
        return False
    return only_has(op, lambda effect: _is_read(effect) or _allocates_within(effect, op))


def _allocates_within(effect: EffectInstance, op: Operation) -> bool:
    value = effect.value
    is_own = isinstance(value, SSAValue) and op.is_ancestor(value.owner)
    return effect.kind is MemoryEffectKind.ALLOC and is_own


@cache
def _stays(kind: type[Operation]) -> bool:
    """Terminators end their blocks, and symbols may be named from elsewhere."""
    return kind.has_trait(IsTerminator) or kind.has_trait(SymbolOpInterface)


def erase_dead(scope: Operation | Region) -> bool:
    """
    Erase what nobody uses in `scope`; whether there was any. Users come first, so that what only
    they use goes too.
    """
    dead = False
    tops = [scope] if isinstance(scope, Operation) else [op for b in scope.blocks for op in b.ops]
    for op in reversed(ops_in(*tops)):
        if is_dead(op):
            dead = True
            op.detach()
            op.erase()
    return dead
