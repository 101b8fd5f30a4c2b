# SPDX-License-Identifier: Apache-2.0
"""
What a kernel is, as a digest of its Loop IR: equal for kernels that differ in names, places and
their `planned` steps alone, in any process.

It is made of a text in which values are numbers, by the order of their definition. That two inputs
have the same name, or one has none, is a part of it: schedules call inputs by their names
(`operand_names`), so what they mean depends on that, though not on what the names are.
"""

from collections.abc import Iterator

from tilewright.codegen import nvrtc
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.tuning.ir_text import about, digest_of, lines
from tilewright.tuning.key import KernelNote, Key

_FORM = "loop kernel 1"
"""The form of the text; another one gives all kernels other digests."""


def digest(kernel: loop.KernelOp) -> str:
    """32 hexadecimal digits."""
    return digest_of([_FORM, *_shared_names(kernel), *lines(kernel, {})])


def key_of(
    kernel: loop.KernelOp, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = ""
) -> Key:
    """
    What measurements of `kernel` on a GPU of that name are kept by; without one those of a model.

    `nvrtc` is the version of NVRTC that has compiled what was measured (`nvrtc_version`).
    """
    types = [memref_type(argument).element_type for argument in kernel.body.block.args]
    return Key.of(digest(kernel), map(str, types), target, evaluator, gpu, nvrtc)


def nvrtc_version() -> str:
    """As keys have it; empty without NVRTC."""
    return ".".join(map(str, nvrtc.version())) if nvrtc.available() else ""


def note_of(kernel: loop.KernelOp, origin: str = "") -> KernelNote:
    """What a person wants to know of `kernel`, which is part of the expression `origin`."""
    copy = kernel.clone()
    copy.planned = None
    name = kernel.sym_name.data
    types = ([value.type for value in each] for each in (kernel.inputs, kernel.outputs))
    names = input_names(kernel)
    return KernelNote(digest(kernel), name, about(name, *types), names, origin, str(copy))


def input_names(kernel: loop.KernelOp) -> tuple[str, ...]:
    """What schedules call the inputs of a kernel; empty for one that has no name."""
    return tuple(value.name_hint or "" for value in kernel.inputs)


def _shared_names(kernel: loop.KernelOp) -> Iterator[str]:
    """Which inputs are called as others before them, or have no name."""
    names = input_names(kernel)
    for position, name in enumerate(names):
        if not name or names.index(name) < position:
            yield f"{position} = {names.index(name) if name else 'unnamed'}"
