# SPDX-License-Identifier: Apache-2.0
"""
Attributes of a kernel's arguments: guarantees between the kernel and the launch plan.

    kernel.func grid 1 block 16 @relu(%x: memref<64xf32> {plan.align = 16 : i64})
        -> (%out: memref<64xf32> {plan.align = 16 : i64, plan.in_place = array<i64: 0>})

`plan.align` is the alignment in bytes that the kernel needs of the argument's address. The plan
only passes buffers that have it. The default is the size of an element.

`plan.in_place` is a permission: launches may pass the same buffer as this output and as input 0.
The kernel guarantees that no thread reads an element of that input after any thread has written it.

`plan.initial` is the value of each element of an output when the kernel starts: the plan fills the
buffer with it before the launch.

`plan.updated` marks an output whose elements keep their values where the kernel stores nothing.
Launches pass an input that the program writes in place, or a buffer whose other elements other
launches write.

`plan.scratch` marks an output that is workspace, not a result: its contents are useless after the
launch. With `plan.initial` too, the plan fills it only once, because the kernel restores the
initial value before it ends.

Row-major order without gaps needs no attribute here: the argument's type implies it.
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
"""Constant that every element of a buffer holds before a launch."""

Facts = Mapping[str, Attribute]
"""Attributes of one argument, by name."""


def alignment_in(facts: Facts, type: Attribute) -> int:
    """
    Return the alignment in bytes of an argument of `type`: `plan.align`, or the size of an element.
    """
    if isinstance(attribute := facts.get(ALIGN), IntegerAttr):
        return attribute.value.data
    return size_of(_element(type))


def inputs_in_place(facts: Facts) -> tuple[int, ...]:
    """Return the positions of the inputs whose buffers launches may also pass as this output."""
    if (attribute := facts.get(IN_PLACE)) is None:
        return ()
    return tuple(attribute.get_values()) if isa(attribute, DenseArrayBase[IntegerType]) else ()


def initial_in(facts: Facts) -> Initial | None:
    """
    Return the constant that the plan fills the buffer with; None if its contents are arbitrary.
    """
    attribute = facts.get(INITIAL)
    return attribute if isa(attribute, IntegerAttr) or isa(attribute, FloatAttr) else None


def scratch(initial: Initial | None = None) -> Facts:
    """Return the attributes of an output that is workspace of the kernel, not a result."""
    return {SCRATCH: UnitAttr(), **({} if initial is None else {INITIAL: initial})}


def with_alignment(facts: Facts, bytes: int) -> Facts:
    """Return a copy of `facts` in which `plan.align` is `bytes`."""
    return {**facts, ALIGN: IntegerAttr(bytes, i64)}


def with_in_place(facts: Facts, inputs: Sequence[int]) -> Facts:
    """
    Return a copy of `facts` in which `plan.in_place` is `inputs`: the positions of the inputs whose
    buffers may also be passed as this output.
    """
    others = {name: attribute for name, attribute in facts.items() if name != IN_PLACE}
    return {**others, IN_PLACE: DenseArrayBase.from_list(i64, inputs)} if inputs else others


def verify_facts(everything: Sequence[Facts], types: Sequence[Attribute], num_inputs: int) -> None:
    """
    Raise `VerifyException` if the attributes of arguments of `types` contradict the types or each
    other.
    """
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
                raise VerifyException(f"{name} is for outputs, not for input {position}")
    if all(SCRATCH in facts for facts in everything[num_inputs:]):
        raise VerifyException(f"all outputs are {SCRATCH}: the kernel has no result")


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
        raise VerifyException(f"{IN_PLACE} is for outputs, not for input {position}")
    if not isa(attribute, DenseArrayBase[IntegerType]):
        raise VerifyException(f"{IN_PLACE} is {attribute}, but has to be an array of i64")
    for given in attribute.get_values():
        if not 0 <= given < num_inputs:
            raise VerifyException(f"{IN_PLACE} names input {given} of {num_inputs}")
        if _passed_type(types[given]) != _passed_type(types[position]):
            raise VerifyException(
                f"{IN_PLACE} names input {given}, a {types[given]}, for a {types[position]}"
            )


def _verify_initial(attribute: Attribute, type: Attribute) -> None:
    element = _element(type)
    constant = initial_in({INITIAL: attribute})
    if constant is None or constant.type != element:
        raise VerifyException(f"{INITIAL} is {attribute}, but has to be a constant of {element}")


def _passed_type(type: Attribute) -> Attribute:
    """
    Return the type that must be equal for two arguments to be passed one buffer: the memref's type,
    or the type that a pointer points to.
    """
    return type if isinstance(type, ShapedType) else _element(type)


def _element(type: Attribute) -> Attribute:
    """Return the element type of a buffer, or the type that a pointer points to."""
    assert isinstance(type, ContainerType)
    return cast(ContainerType[Attribute], type).get_element_type()
