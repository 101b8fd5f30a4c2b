# SPDX-License-Identifier: Apache-2.0
"""Each Torch op round-trips in both syntaxes, and its declaration equals ATen's schema."""

import re
from io import StringIO
from typing import Any, cast

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.test import Test
from xdsl.irdl import OptionalDef, OptOperandDef
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.torch import OPS, Torch, torch_op_names
from tilewright.dialects.torch.op import TorchOp, python_value


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Test, Torch):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def example_of(op: type[TorchOp]) -> str:
    """Return the example in an op's docstring, on one line."""
    assert op.__doc__ is not None
    start = op.__doc__.index("%")
    return " ".join(op.__doc__[start:].split())


def with_operands(example: str) -> str:
    """Return a module around an example, with operands of the types that its signature names."""
    operands = re.findall(r"%\w+", example.split("=", 1)[1])
    signature = example.rsplit(": (", 1)[1]
    types = re.findall(r"tensor<[^>]*>", signature.partition("->")[0])
    lines = [
        f'{name} = "test.op"() : () -> {type}' for name, type in zip(operands, types, strict=True)
    ]
    return "\n".join([*lines, example])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_example_round_trips(op: type[TorchOp]):
    module = parse(with_operands(example_of(op)))
    assert isinstance(list(module.ops)[-1], op)
    assert example_of(op) in str(module)

    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert f'"{op.name}"(' in generic.getvalue()
    assert str(parse(generic.getvalue())) == str(module)


def schema_of(op: type[TorchOp]) -> list[Any]:
    """Return the arguments of the ATen overload of an op."""
    import torch

    operator, _, overload = op.ATEN.partition(".")
    return getattr(getattr(torch.ops.aten, operator), overload or "default")._schema.arguments


def default_of(argument: Any) -> Any:
    """Return the default that a schema gives, as a property's Python value."""
    value = argument.default_value
    if argument.name == "memory_format" and value is not None:
        return {0: "contiguous_format"}[value]
    return tuple(cast(list[Any], value)) if isinstance(value, list) else value


def assert_declared_as_in_schema(op: type[TorchOp]):
    """
    Assert that arguments agree with the schema: tensors or not, optional or not, with the same
    defaults.
    """
    definition = op.get_irdl_definition()
    operands, properties = dict(definition.operands), dict(definition.properties)
    properties.pop("operandSegmentSizes", None)
    for argument in schema_of(op):
        name = "input" if argument.name == "self" else argument.name
        is_optional = str(argument.type).startswith("Optional")
        if "Tensor" in str(argument.type):
            assert isinstance(operands.pop(name), OptOperandDef) == is_optional
            if "Optional" in str(argument.type).removeprefix("Optional"):
                properties.pop(f"{name}_at")
            continue
        declared = properties.pop(name)
        if declared.default_value is not None:
            assert python_value(declared.default_value) == default_of(argument)
            continue
        assert isinstance(declared, OptionalDef) == is_optional
        assert default_of(argument) is None
    assert not operands
    assert not properties


def test_declarations_are_the_schemas():
    for op in OPS:
        assert_declared_as_in_schema(op)


def test_names_drop_only_tensor_and_default():
    names = {op.ATEN: op.name for op in OPS}
    assert names["add.Tensor"] == "torch.add"
    assert names["add.Scalar"] == "torch.add.Scalar"
    assert names["relu"] == "torch.relu"
    assert len({*names.values()}) == len(names) == len(torch_op_names())
