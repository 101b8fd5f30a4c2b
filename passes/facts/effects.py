# SPDX-License-Identifier: Apache-2.0
"""
Side effects of ops, collected lazily: a walk stops when the answer is known.

xDSL's `get_effects` collects the effects of all nested ops first. Asked for each op of a nest, its
time grows with the depth of the nest.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cache

from xdsl.ir import Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import Rewriter
from xdsl.traits import (
    EffectInstance,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryWriteEffect,
    NoMemoryEffect,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)

from tilewright.dialects.faster_xdsl.walk import ops_in, ops_within


def only_has(op: Operation, allowed: Callable[[EffectInstance], bool]) -> bool:
    """True if all effects of `op` and its nested ops are known and `allowed`."""
    pending = [op]
    while pending:
        op = pending.pop()
        if _has_none(type(op)):  # most ops
            continue
        if not (traits := _effect_traits(type(op))):
            return False
        for trait in traits:
            if isinstance(trait, RecursiveMemoryEffect):
                pending += ops_within(op)
            elif not _allows(allowed, trait.get_effects(op)):
                return False
    return True


def _allows(
    allowed: Callable[[EffectInstance], bool], effects: AbstractSet[EffectInstance] | None
) -> bool:
    return effects is not None and all(map(allowed, effects))


@cache
def _has_none(kind: type[Operation]) -> bool:
    """True if ops of that kind have no effects, whatever they contain."""
    traits = _effect_traits(kind)
    return bool(traits) and all(type(trait) in (NoMemoryEffect, Pure) for trait in traits)


@cache
def _effect_traits(kind: type[Operation]) -> tuple[MemoryEffect, ...]:
    return tuple(kind.get_traits_of_type(MemoryEffect))


def is_pure(op: Operation) -> bool:
    """True if `op` has no side effects."""
    return only_has(op, lambda effect: False)


def only_reads(op: Operation) -> bool:
    """True if `op` has no side effects except reads of memory."""
    return only_has(op, _is_read)


def _is_read(effect: EffectInstance) -> bool:
    return effect.kind is MemoryEffectKind.READ


def is_dead(op: Operation) -> bool:
    """True if `op` has no uses and no effect that another op can observe: it can be erased."""
    if _stays(type(op)):
        return False
    for result in op.results:
        if result.first_use is not None:
            return False
    return only_has(op, lambda effect: _is_read(effect) or _allocates_within(effect, op))


def _allocates_within(effect: EffectInstance, op: Operation) -> bool:
    value = effect.value
    is_own = isinstance(value, SSAValue) and op.is_ancestor(value.owner)
    return effect.kind is MemoryEffectKind.ALLOC and is_own


@cache
def _stays(kind: type[Operation]) -> bool:
    """
    True if no op of that kind is dead. Terminators end their blocks, symbols may be referenced from
    elsewhere, and writes or unknown effects may be observed.
    """
    if not _effect_traits(kind) or kind.has_trait(MemoryWriteEffect):
        return True
    return kind.has_trait(IsTerminator) or kind.has_trait(SymbolOpInterface)


def erase_dead(scope: Operation | Region, rewriter: PatternRewriter | None = None) -> bool:
    """
    Erase the dead ops in `scope`, users before their operands, and return True if there was any.
    """
    dead, erase = False, Rewriter.erase_op if rewriter is None else rewriter.erase
    tops = [scope] if isinstance(scope, Operation) else [op for b in scope.blocks for op in b.ops]
    for op in reversed(ops_in(*tops)):
        if is_dead(op):
            dead = True
            erase(op)
    return dead
