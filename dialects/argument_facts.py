# SPDX-License-Identifier: Apache-2.0
"""
What a kernel and the launch plan promise each other about the kernel's arguments: attributes of
the arguments.

    kernel.func grid 1 block 16 @relu(%x: memref<64xf32> {plan.align = 16 : i64})
        -> (%out: memref<64xf32> {plan.align = 16 : i64, plan.in_place = array<i64: 0>})

`plan.align` is what the kernel needs: addresses that are multiples of so many bytes. The plan meets
it, whatever buffer is passed. Where nothing is said the elements' own size is all that is needed.

`plan.in_place` is what the kernel allows: launches may pass one buffer as this output and as input
0. So no thread reads an element of that input after it or another thread has written it.

`plan.initial` is what the kernel finds in each element of an output: the plan fills the buffer with
it before the launch.

`plan.updated` is said of an output that keeps what it holds where the kernel stores nothing.
Launches pass an input that the program writes in place, or a buffer of which other launches write
the rest.

`plan.scratch` is said of an output that is no result: what it holds after the launch is of no use.
With `plan.initial` it is filled once only, for the kernel leaves it as it found it.

That elements lie in row-major order without gaps is not said here: the argument's type says so.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ContainerType,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilewright.dialects.buffer_plan import ALIGNMENT
from tilewright.dialects.types import size_of

ALIGN = "plan.align"
IN_PLACE = "plan.in_place"
INITIAL = "plan.initial"
UPDATED = "plan.updated"
SCRATCH = "plan.scratch"

Initial = IntegerAttr | FloatAttr
"""What every element of a buffer is."""

Facts = Mapping[str, Attribute]
"""What is said of one argument."""


def alignment_in(facts: Facts, type: Attribute) -> int:
    """Return the bytes that the address of an argument of `type` is a multiple of."""
    if isinstance(attribute := facts.get(ALIGN), IntegerAttr):
        return attribute.value.data
    return size_of(_element(type))


def inputs_in_place(facts: Facts) -> tuple[int, ...]:
    """Return the inputs, by position, that may be passed as this output too."""
    if (attribute := facts.get(IN_PLACE)) is None:
        return ()
    return tuple(attribute.get_values()) if isa(attribute, DenseArrayBase[IntegerType]) else ()


def initial_in(facts: Facts) -> Initial | None:
    """What the plan fills the buffer with; None if it may hold anything."""
    attribute = facts.get(INITIAL)
    return attribute if isa(attribute, IntegerAttr) or isa(attribute, FloatAttr) else None


def scratch(initial: Initial | None = None) -> Facts:
    """What is said of an output that is no result, but room that the kernel needs."""
    return {SCRATCH: UnitAttr(), **({} if initial is None else {INITIAL: initial})}


def with_alignment(facts: Facts, bytes: int) -> Facts:
    """Return the same, and that the address is a multiple of `bytes`."""
    return {**facts, ALIGN: IntegerAttr(bytes, i64)}


def with_in_place(facts: Facts, inputs: Sequence[int]) -> Facts:
    """Return the same, but that these inputs, and no others, may be passed as this output too."""
    others = {name: attribute for name, attribute in facts.items() if name != IN_PLACE}
    return {**others, IN_PLACE: DenseArrayBase.from_list(i64, inputs)} if inputs else others


def verify_facts(everything: Sequence[Facts], types: Sequence[Attribute], num_inputs: int) -> None:
    """Raise `VerifyException` for facts that cannot be, of arguments that are of `types`."""
    if len(everything) != len(types):
        raise VerifyException(
            f"attributes of {len(everything)} arguments, but there are {len(types)}"
        )
    for position, facts in enumerate(everything):
        if ALIGN in facts:
            _verify_alignment(facts[ALIGN])
        if IN_PLACE in facts:
            _verify_in_place(facts[IN_PLACE], position, types, num_inputs)
        if INITIAL in facts:
            _verify_initial(facts[INITIAL], types[position])
        for name in (INITIAL, UPDATED, SCRATCH):
            if name in facts and position < num_inputs:
                raise VerifyException(f"{name} is said of input {position}; outputs are written")
    if all(SCRATCH in facts for facts in everything[num_inputs:]):
        raise VerifyException(f"all outputs are {SCRATCH}: nothing that the kernel does is of use")


def _verify_alignment(attribute: Attribute) -> None:
    bytes = attribute.value.data if isinstance(attribute, IntegerAttr) else 0
    if not 1 <= bytes <= ALIGNMENT or bytes & (bytes - 1):
        raise VerifyException(
            f"{ALIGN} is {attribute}, but has to be a power of two up to {ALIGNMENT}"
        )


def _verify_in_place(
    attribute: Attribute, position: int, types: Sequence[Attribute], num_inputs: int
) -> None:
    if position < num_inputs:
        raise VerifyException(f"{IN_PLACE} is said of input {position}; outputs are written")
    if not isa(attribute, DenseArrayBase[IntegerType]):
        raise VerifyException(f"{IN_PLACE} is {attribute}, but has to be an array of i64")
    for given in attribute.get_values():
        if not 0 <= given < num_inputs:
            raise VerifyException(f"{IN_PLACE} names input {given} of {num_inputs}")
        if _what_is_passed(types[given]) != _what_is_passed(types[position]):
            raise VerifyException(
                f"{IN_PLACE} names input {given}, a {types[given]}, for a {types[position]}"
            )


def _verify_initial(attribute: Attribute, type: Attribute) -> None:
    element = _element(type)
    constant = initial_in({INITIAL: attribute})
    if constant is None or constant.type != element:
        raise VerifyException(f"{INITIAL} is {attribute}, but has to be a constant of {element}")


def _what_is_passed(type: Attribute) -> Attribute:
    """What must be equal: a pointer is to elements, and may be const or not."""
    return type if isinstance(type, ShapedType) else _element(type)


def _element(type: Attribute) -> Attribute:
    """Return the elements of a buffer, or of what a pointer points to."""
    assert isinstance(type, ContainerType)
    return cast(ContainerType[Attribute], type).get_element_type()
