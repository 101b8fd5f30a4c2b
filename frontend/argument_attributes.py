# SPDX-License-Identifier: Apache-2.0
"""Attributes of the captured function's arguments and results (see `dialects/torch/`)."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from tilewright.dialects.updates import BECOMES
from tilewright.frontend.signature import Input, Output


def argument_attributes(
    inputs: Sequence[Input], outputs: Sequence[Output]
) -> ArrayAttr[DictionaryAttr]:
    """
    Return a dictionary of attributes for each argument. It holds `torch.name` and `torch.kind` of a
    parameter, buffer or constant.

    For an argument that is written in place, it holds `torch.becomes`: the position of the result
    that is the new value.
    """
    written = {o.mutates.node: n for n, o in enumerate(outputs) if o.mutates is not None}
    return ArrayAttr(DictionaryAttr(_attributes_of(i, written.get(i.node))) for i in inputs)


def _attributes_of(input: Input, becomes: int | None) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    if input.kind != "input":
        attributes = {"torch.name": StringAttr(input.name), "torch.kind": StringAttr(input.kind)}
    return attributes if becomes is None else {**attributes, BECOMES: IntegerAttr(becomes, i64)}


def result_attributes(outputs: Sequence[Output]) -> ArrayAttr[DictionaryAttr] | None:
    """
    Return a dictionary for each result that is a tensor; None if the program writes nothing in
    place.

    For the new value of an input or buffer, it holds `torch.mutates`, the name of that input or
    buffer; else it is empty.
    """
    if all(output.mutates is None for output in outputs):
        return None
    attributes = (
        {} if o.mutates is None else {"torch.mutates": StringAttr(o.mutates.name)}
        for o in outputs
        if o.is_tensor
    )
    return ArrayAttr(map(DictionaryAttr, attributes))
