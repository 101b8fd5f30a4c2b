# SPDX-License-Identifier: Apache-2.0
"""
What a program is, as a digest of its Tensor IR: what is kept of its fusion is kept by that, as
schedules are by the digests of kernels.

Decisions about fusion call kernels as the values that they compute, so that names of values are a
part of it; places, and what was decided about fusion, are not.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, OpResult, SSAValue

from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.tuning.host_functions import entries
from tilewright.tuning.ir_text import about, digest_of, lines
from tilewright.tuning.key import KernelNote, Key

_FORM = "tensor program 1"
"""The form of the text; another one gives all programs other digests."""


def digest(program: ModuleOp) -> str:
    """32 hexadecimal digits."""
    numbers: dict[SSAValue, int] = {}
    text = [line for op in program.ops for line in lines(op, numbers)]
    names = [value.name_hint or "" for value in numbers if isinstance(value, OpResult)]
    return digest_of([_FORM, *text, *names])


def key_of(
    program: ModuleOp, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = ""
) -> Key:
    """What times of `program`, at Tensor IR, are kept by; as those of its kernels are."""
    inputs, _ = _signature(program)
    types = (str(type.element_type) for type in inputs)
    return Key.of(digest(program), types, target, evaluator, gpu, nvrtc)


def note_of(program: ModuleOp, origin: str = "") -> KernelNote:
    """What a person wants to know of `program`, which the expression `origin` is captured as."""
    copy = program.clone()
    copy.attributes.pop(ATTRIBUTE, None)
    name = "program"
    text = about(name, *_signature(program))
    return KernelNote(digest(program), name, text, (), origin, str(copy))


def _signature(program: ModuleOp) -> tuple[list[TensorType], list[TensorType]]:
    """Return the tensors that a run of the program takes and gives."""
    types = [entry.function_type for entry in entries(program)]
    return (
        [tensor for type in types for tensor in _tensors(type.inputs.data)],
        [tensor for type in types for tensor in _tensors(type.outputs.data)],
    )


def _tensors(types: Sequence[Attribute]) -> list[TensorType]:
    return [type for type in types if isinstance(type, TensorType)]
