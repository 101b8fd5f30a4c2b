# SPDX-License-Identifier: Apache-2.0
"""
The identity of a program, as a digest of its Tensor IR. The digest is the key of the program's
fusion, as digests of kernels are the keys of schedules.

Decisions about fusion name kernels after the values that they compute. Therefore the digest depends
on the names of values, but not on locations or on prescribed decisions about fusion.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, OpResult, SSAValue

from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.tuning.host_functions import entries
from tilewright.tuning.ir_text import about, digest_of, lines
from tilewright.tuning.key import KernelNote, Key

_FORM = "tensor program 1"
"""Version of the text; another version changes the digests of all programs."""


def digest(program: ModuleOp) -> str:
    """Return the digest of a program, 32 hexadecimal digits."""
    numbers: dict[SSAValue, int] = {}
    text = [line for op in program.ops for line in lines(op, numbers)]
    names = [value.name_hint or "" for value in numbers if isinstance(value, OpResult)]
    return digest_of([_FORM, *text, *names])


def key_of(
    program: ModuleOp, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = ""
) -> Key:
    """Return the key of times of `program` at Tensor IR; arguments are as for kernels."""
    inputs, _ = _signature(program)
    types = (str(type.element_type) for type in inputs)
    return Key.of(digest(program), types, target, evaluator, gpu, nvrtc)


def note_of(program: ModuleOp, origin: str = "") -> KernelNote:
    """Return a note for readers about `program`, which is captured from the expression `origin`."""
    copy = program.clone()
    copy.attributes.pop(ATTRIBUTE, None)
    name = "program"
    text = about(name, *_signature(program))
    return KernelNote(digest(program), name, text, (), origin, str(copy))


def _signature(program: ModuleOp) -> tuple[list[TensorType], list[TensorType]]:
    """Return the tensors that a run of the program takes and returns."""
    types = [entry.function_type for entry in entries(program)]
    return (
        [tensor for type in types for tensor in _tensors(type.inputs.data)],
        [tensor for type in types for tensor in _tensors(type.outputs.data)],
    )


def _tensors(types: Sequence[Attribute]) -> list[TensorType]:
    return [type for type in types if isinstance(type, TensorType)]
