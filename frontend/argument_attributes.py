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
    Return one dictionary of attributes per argument. It holds the argument's name and kind unless
    it is a user input, and the number of the result that is its new value.
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
    Return one dictionary per tensor result: it names the input or buffer whose new value the result
    is. None if the program writes nothing in place.
    """
    if all(output.mutates is None for output in outputs):
        return None
    attributes = (
        {} if o.mutates is None else {"torch.mutates": StringAttr(o.mutates.name)}
        for o in outputs
        if o.is_tensor
    )
    return ArrayAttr(map(DictionaryAttr, attributes))
