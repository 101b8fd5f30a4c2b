# SPDX-License-Identifier: Apache-2.0
"""
In-place writes of a program: the captured function returns the new values, which are then written
back.

The new values are written into the tensors or arrays of the call, and into the module's buffers.
"""

from collections.abc import Sequence
from typing import Any, cast

from tilewright.arrays import array_of, tensor_of
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.overlap import overlaps_itself, share_elements
from tilewright.frontend.signature import Input


def check_writable(captured: Captured, values: Sequence[Any]) -> None:
    """
    Raise `UsageError` unless the tensors and arrays that the program writes are writable; `values`
    are those for `captured.inputs`.

    A written value must not share memory with another one: the program was captured with separate
    tensors, and would not see the change.
    """
    if not captured.mutated:
        return
    by_node = {i.node: value for i, value in zip(captured.inputs, values, strict=True)}
    for written in captured.mutated:
        value = by_node[written.node]
        if reason := _reason_not_writable(value):
            raise UsageError(f"the program writes to its {_what(written)}, which {reason}")
        for other in captured.inputs:
            if other.node != written.node and share_elements(value, by_node[other.node]):
                raise UsageError(
                    f"the program writes to its {_what(written)}, which shares memory with "
                    f"{other.name!r}",
                    remedy="pass a copy",
                )


def write_back(captured: Captured, values: Sequence[Any], results: Sequence[Any]) -> None:
    """
    Write the new values, which come first in `results`, into the tensors or arrays of the call.
    """
    if not captured.mutated:
        return
    by_node = {i.node: value for i, value in zip(captured.inputs, values, strict=True)}
    for written, result in zip(captured.mutated, results, strict=False):
        _write(by_node[written.node], result)


def _write(value: Any, result: Any) -> None:
    import numpy as np
    import torch

    if value is result:
        return  # the program wrote it in place
    if isinstance(value, np.ndarray):
        value[...] = array_of(tensor_of(result))  # it may be on a GPU
        return
    with torch.no_grad():
        value.copy_(tensor_of(result))


def _what(written: Input) -> str:
    return f"{written.kind} {written.name!r}"


def _reason_not_writable(value: Any) -> str | None:
    """Reason why a tensor or array cannot be written, or None."""
    import numpy as np
    import torch

    if not isinstance(value, torch.Tensor | np.ndarray):
        return f"is a {type(cast(object, value)).__name__} and cannot be written"
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return "is read-only"
    is_tensor = isinstance(value, torch.Tensor)
    if is_tensor and value.is_inference() and not torch.is_inference_mode_enabled():
        return "is a tensor made in inference mode"
    return "has elements that share memory with each other" if overlaps_itself(value) else None
