# SPDX-License-Identifier: Apache-2.0
"""
The identity of a kernel, as a digest of its Loop IR. The digest is equal, in any process, for
kernels that differ only in names, locations and their `planned` steps.

The digest is taken of a text in which values are numbers, by the order of their definition. The
digest also depends on which inputs share a name or have none. Schedules refer to inputs by their
names (`operand_names`), so that their meaning depends on this, but not on the names themselves.
"""

from collections.abc import Iterator

from tilewright.codegen import nvrtc
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.tuning.ir_text import about, digest_of, lines
from tilewright.tuning.key import KernelNote, Key

_FORM = "loop kernel 1"
"""Version of the text; another version changes the digests of all kernels."""


def digest(kernel: loop.KernelOp) -> str:
    """Return the digest of a kernel, 32 hexadecimal digits."""
    return digest_of([_FORM, *_shared_names(kernel), *lines(kernel, {})])


def key_of(
    kernel: loop.KernelOp, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = ""
) -> Key:
    """
    Return the key of measurements of `kernel` on the named GPU; without a GPU, of a model's
    estimates.

    `nvrtc` is the version of NVRTC that compiled the measured kernel (`nvrtc_version`).
    """
    types = [memref_type(argument).element_type for argument in kernel.body.block.args]
    return Key.of(digest(kernel), map(str, types), target, evaluator, gpu, nvrtc)


def nvrtc_version() -> str:
    """Return the version of NVRTC as keys contain it; empty without NVRTC."""
    return ".".join(map(str, nvrtc.version())) if nvrtc.available() else ""


def note_of(kernel: loop.KernelOp, origin: str = "") -> KernelNote:
    """Return a note for readers about `kernel`, which is part of the expression `origin`."""
    copy = kernel.clone()
    copy.planned = None
    name = kernel.sym_name.data
    types = ([value.type for value in each] for each in (kernel.inputs, kernel.outputs))
    names = input_names(kernel)
    return KernelNote(digest(kernel), name, about(name, *types), names, origin, str(copy))


def input_names(kernel: loop.KernelOp) -> tuple[str, ...]:
    """
    Return the names by which schedules refer to the inputs of a kernel; empty for an unnamed one.
    """
    return tuple(value.name_hint or "" for value in kernel.inputs)


def _shared_names(kernel: loop.KernelOp) -> Iterator[str]:
    """Yield a line for each input that has the name of an earlier one, or no name."""
    names = input_names(kernel)
    for position, name in enumerate(names):
        if not name or names.index(name) < position:
            yield f"{position} = {names.index(name) if name else 'unnamed'}"
