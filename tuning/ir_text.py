# SPDX-License-Identifier: Apache-2.0
"""
IR as text: for digests, with values numbered by the order of their definition, and in one line for
readers.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects import loop

_IGNORED = ("sym_name", "planned")
"""Attributes of a kernel that do not belong to its identity."""


def digest_of(text: Iterable[str]) -> str:
    """Return a digest of 32 hexadecimal digits."""
    return sha256("\n".join(text).encode()).hexdigest()[:32]


def about(name: str, inputs: Iterable[Attribute], outputs: Iterable[Attribute]) -> str:
    """
    Return the signature of a kernel or program: `matmul(512x64xf32, 64x96xf32) -> 512x96xf32`.
    """
    taken, given = (", ".join(map(_shape, types)) for types in (inputs, outputs))
    return f"{name}({taken}) -> {given}"


def _shape(type: Attribute) -> str:
    """Return the part of a `tensor<...>` or `memref<...>` inside the brackets."""
    return str(type).partition("<")[2].removesuffix(">")


def lines(op: Operation, numbers: dict[SSAValue, int]) -> Iterator[str]:
    """Yield the lines of an operation and all ops in it; values are numbered by definition."""
    attributes = {**op.attributes, **op.properties}
    if isinstance(op, loop.KernelOp):
        attributes = {name: value for name, value in attributes.items() if name not in _IGNORED}
    facts = " ".join(f"{name}={_text(attributes[name])}" for name in sorted(attributes))
    operands = " ".join(str(numbers[value]) for value in op.operands)
    types = " ".join(str(value.type) for value in op.results)
    yield f"{op.name} ({operands}) [{facts}] -> {types}"
    for region in op.regions:
        for block in region.blocks:
            yield from _block_lines(block, numbers)


def _text(attribute: Attribute) -> str:
    """Return the text of an attribute, with dictionaries sorted by key."""
    if isinstance(attribute, DictionaryAttr):
        facts = sorted(attribute.data.items())
        return "{" + ", ".join(f"{name}={_text(value)}" for name, value in facts) + "}"
    if isa(attribute, ArrayAttr):
        return "[" + ", ".join(map(_text, attribute)) + "]"
    return str(attribute)


def _block_lines(block: Block, numbers: dict[SSAValue, int]) -> Iterator[str]:
    _number(block.args, numbers)
    yield "{ " + " ".join(str(value.type) for value in block.args)
    for op in block.ops:
        yield from lines(op, numbers)
        _number(op.results, numbers)
    yield "}"


def _number(values: Iterable[SSAValue], numbers: dict[SSAValue, int]) -> None:
    for value in values:
        numbers[value] = len(numbers)
