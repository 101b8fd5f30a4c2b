# SPDX-License-Identifier: Apache-2.0
"""
What a kernel is, as a digest of its Loop IR: equal for kernels that differ in names, places and
plans alone, in any process.

It is made of a text in which values are numbers, by the order of their definition. That two inputs
have the same name, or one has none, is a part of it: schedules call inputs by their names
(`operand_names`), so what they mean depends on that, though not on what the names are.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.codegen import nvrtc
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.tuning.key import SEMANTICS, KernelNote, Key

_FORM = "loop kernel 1"
"""The form of the text; another one gives all kernels other digests."""

_LEFT_OUT = ("sym_name", "plan")


def digest(kernel: loop.KernelOp) -> str:
    """32 hexadecimal digits."""
    text = "\n".join([_FORM, *_shared_names(kernel), *lines(kernel, {})])
    return sha256(text.encode()).hexdigest()[:32]


def key_of(
    kernel: loop.KernelOp, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = ""
) -> Key:
    """
    What measurements of `kernel` on a GPU of that name are kept by; without one those of a model.

    `nvrtc` is the version of NVRTC that has compiled what was measured (`nvrtc_version`).
    """
    types = dict.fromkeys(str(memref_type(a).element_type) for a in kernel.body.block.args)
    device = target if gpu is None else gpu
    return Key(digest(kernel), ",".join(types), target, device, evaluator, SEMANTICS, nvrtc)


def nvrtc_version() -> str:
    """As keys have it; empty without NVRTC."""
    return ".".join(map(str, nvrtc.version())) if nvrtc.available() else ""


def note_of(kernel: loop.KernelOp, origin: str = "") -> KernelNote:
    """What a person wants to know of `kernel`, which is part of the expression `origin`."""
    copy = kernel.clone()
    copy.plan = None
    name = kernel.sym_name.data
    shapes = [", ".join(_shape(value) for value in kernel.inputs)]
    shapes.append(", ".join(_shape(value) for value in kernel.outputs))
    about = "{}({}) -> {}".format(name, *shapes)
    return KernelNote(digest(kernel), name, about, input_names(kernel), origin, str(copy))


def input_names(kernel: loop.KernelOp) -> tuple[str, ...]:
    """What schedules call the inputs of a kernel; empty for one that has no name."""
    return tuple(value.name_hint or "" for value in kernel.inputs)


def _shape(value: SSAValue) -> str:
    return str(memref_type(value)).removeprefix("memref<").removesuffix(">")


def _shared_names(kernel: loop.KernelOp) -> Iterator[str]:
    """Which inputs are called as others before them, or have no name."""
    names = input_names(kernel)
    for position, name in enumerate(names):
        if not name or names.index(name) < position:
            yield f"{position} = {names.index(name) if name else 'unnamed'}"


def lines(op: Operation, numbers: dict[SSAValue, int]) -> Iterator[str]:
    """An operation, and all that is in it; values get numbers in the order of their definition."""
    said = {**op.attributes, **op.properties}
    if isinstance(op, loop.KernelOp):
        said = {name: value for name, value in said.items() if name not in _LEFT_OUT}
    facts = " ".join(f"{name}={_text(said[name])}" for name in sorted(said))
    operands = " ".join(str(numbers[value]) for value in op.operands)
    types = " ".join(str(value.type) for value in op.results)
    yield f"{op.name} ({operands}) [{facts}] -> {types}"
    for region in op.regions:
        for block in region.blocks:
            yield from _block_lines(block, numbers)


def _text(attribute: Attribute) -> str:
    """An attribute; what is said of arguments in whatever order it was said."""
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
