# SPDX-License-Identifier: Apache-2.0
"""
Capture: a PyTorch module or function and its inputs become a module of Torch IR.

Every door (command line, Python API, `torch.compile`) comes through `capture`. It exports with
`torch.export`, breaks down what the dialect does not define with one `run_decompositions`, and
then translates node by node. What cannot be compiled is refused here, by name and place.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_op import TorchOp
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.aten import (
    build_op,
    op_of_call,
    type_of,
    types_of,
)
from tilewright.frontend.export import export
from tilewright.frontend.refusals import calls_of, check
from tilewright.frontend.source import place_of_node

Kind = Literal["input", "parameter", "buffer", "constant"]


@dataclass(frozen=True)
class Input:
    """One argument of the captured function."""

    node: str
    """The name of its FX node, which the function's argument has too."""
    name: str
    """A user input's name in the signature; otherwise the path in the module: `0.weight`."""
    kind: Kind
    tensor: Any
    """The tensor that was given or found at capture, real or fake."""


def is_node(value: Any) -> bool:
    """Whether an output is a tensor of the graph rather than a Python value."""
    from torch.fx import Node

    return isinstance(value, Node)


@dataclass(frozen=True)
class Captured:
    """Torch IR, with what is needed to call it and to judge its results."""

    module: ModuleOp
    """One function `@main`: `inputs` in, the tensors among the user's outputs out."""
    exported: Any
    """The decomposed `torch.export.ExportedProgram`."""
    inputs: list[Input]
    """The function's arguments, in order."""
    outputs: list[Any]
    """The user's outputs, flat: the FX node of a tensor, or a Python value as it is."""

    def unflatten(self, tensors: Sequence[Any]) -> Any:
        """The function's results in the nesting that the user's function returns."""
        from torch.utils import _pytree as pytree

        results = iter(tensors)
        leaves = [next(results) if is_node(leaf) else leaf for leaf in self.outputs]
        return pytree.tree_unflatten(leaves, self.exported.call_spec.out_spec)


def capture(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
) -> Captured:
    """
    Capture a module or a function, called with `args` and `kwargs`, for inference.

    A module is captured in eval mode, and left as it was. Raises `UnsupportedError` for what the
    compiler cannot do and `UsageError` where the user's own code fails.
    """
    exported = export(function, args, dict(kwargs or {}))
    check(exported)
    return _translate(exported, _inputs(exported))


def _inputs(exported: Any) -> list[Input]:
    """
    The tensor arguments of the graph by their FX name.

    Python values are baked in already. What the user passes in stays even if nothing uses it.
    """
    from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument
    from torch.utils import _pytree as pytree

    user = iter(pytree.tree_leaves(exported.example_inputs))
    stored: dict[InputKind, Kind] = {
        InputKind.PARAMETER: "parameter",
        InputKind.BUFFER: "buffer",
        InputKind.CONSTANT_TENSOR: "constant",
    }
    used = {node.name for node in exported.graph.nodes if node.users}
    inputs: list[Input] = []
    for spec in exported.graph_signature.input_specs:
        tensor = next(user) if spec.kind is InputKind.USER_INPUT else None
        if isinstance(spec.arg, ConstantArgument):
            continue
        if not isinstance(spec.arg, TensorArgument):
            raise UnsupportedError(f"the input {spec.arg.name!r} is not a tensor")
        name = spec.arg.name
        if tensor is not None:
            inputs.append(Input(name, name, "input", tensor))
            continue
        if name not in used:
            continue
        state = exported.state_dict if spec.target in exported.state_dict else exported.constants
        inputs.append(Input(name, spec.target, stored[spec.kind], state[spec.target]))
    return inputs


def _translate(exported: Any, inputs: list[Input]) -> Captured:
    by_name = {node.name: node for node in exported.graph.nodes}
    placeholders = [by_name[input.node] for input in inputs]
    block = Block(arg_types=[type_of(node.meta["val"]) for node in placeholders])
    values: dict[Any, SSAValue] = {}
    for node, argument in zip(placeholders, block.args, strict=True):
        values[node] = argument
        argument.name_hint = node.name

    parts: dict[Any, Sequence[SSAValue]] = {}
    for node in calls_of(exported):
        if node.target is operator.getitem:
            source, position = node.args
            values[node] = parts[source][position]
            values[node].name_hint = node.name
            continue
        op_class = op_of_call(node.target, node.args)
        assert op_class is not None
        op = _checked_op(op_class, node, values)
        op.location = _location(node)
        block.add_op(op)
        if isinstance(node.meta["val"], tuple | list):
            parts[node] = op.results
            continue
        op.results[0].name_hint = node.name
        values[node] = op.results[0]

    outputs = list(exported.graph.output_node().args[0])
    returned = [values[output] for output in outputs if is_node(output)]
    if not returned:
        raise UsageError("the program returns no tensor")
    block.add_op(ReturnOp(*returned))
    module = ModuleOp([_function(block, inputs, returned)])
    module.verify()
    return Captured(module, exported, inputs, outputs)


def _checked_op(op_class: type[TorchOp], node: Any, values: Mapping[Any, SSAValue]) -> TorchOp:
    """
    The op of a node. It is verified at once, while its place is known: fake tensors pass with some
    arguments that PyTorch refuses for real ones.
    """
    where = str(place_of_node(node) or "")
    try:
        op = build_op(op_class, node.args, node.kwargs, values, types_of(node.meta["val"]))
        op.verify_()
    except UnsupportedError as err:
        raise UnsupportedError(f"{node.target}: {err.message}", where=where) from err
    except VerifyException as err:
        raise UsageError(f"{node.target}: {err}", where=where) from err
    return op


def _function(block: Block, inputs: Sequence[Input], returned: Sequence[SSAValue]) -> FuncOp:
    type = FunctionType.from_lists(block.arg_types, [value.type for value in returned])
    attributes = [_argument_attributes(i) for i in inputs]
    return FuncOp("main", type, Region(block), "public", arg_attrs=ArrayAttr(attributes))


def _argument_attributes(input: Input) -> DictionaryAttr:
    if input.kind == "input":
        return DictionaryAttr({})
    return DictionaryAttr(
        {"torch.name": StringAttr(input.name), "torch.kind": StringAttr(input.kind)}
    )


def _location(node: Any) -> NameLoc:
    """The node's name, at the user's line if that is known."""
    place = place_of_node(node)
    line = UnknownLoc()
    if place is not None:
        line = FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))
    return NameLoc(StringAttr(node.name), line)
