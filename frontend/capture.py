# SPDX-License-Identifier: Apache-2.0
"""
Capture: a PyTorch module or function and its inputs become a module of Torch IR.

Every door (command line, Python API, `torch.compile`) comes through `capture`. It exports with
`torch.export`, breaks down what the dialect does not define with one `run_decompositions`, and
then translates node by node. What cannot be compiled is refused here, by name and place.
"""

import logging
import sys
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal, cast

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

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.aten import (
    build_op,
    decompositions,
    dtype_name,
    op_of_call,
    type_of,
)
from tilewright.frontend.source import error_of, place_of_exception, place_of_node

Kind = Literal["input", "parameter", "buffer", "constant"]


@dataclass(frozen=True)
class Input:
    """One argument of the captured function."""

    name: str
    """A user input's name in the signature; otherwise the path in the module: `0.weight`."""
    kind: Kind
    tensor: Any
    """The tensor that was given or found at capture, real or fake."""


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
    """The user's outputs, flat: the FX name of a tensor as `Node`, or the Python value itself."""

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
    exported = _export(_as_module(function), args, dict(kwargs or {}))
    _check_mutations(exported)
    _check_sizes(exported)
    _check_ops(exported)
    _check_dtypes(exported)
    inputs = _inputs(exported)
    return _translate(exported, inputs)


# --- Export ----------------------------------------------------------------------------------


def _as_module(function: Any) -> Any:
    """`function` itself if it is a module; else a module whose forward it is."""
    from torch import nn

    if isinstance(function, nn.Module):
        return function
    if not callable(function):
        raise UsageError(f"a module or a function can be captured, not {type(function).__name__}")
    module = nn.Module()
    for name, used in _modules_used_by(function).items():
        module.add_module(name, used)
    module.forward = function
    return module


def _modules_used_by(function: Callable[..., Any]) -> dict[str, Any]:
    """The modules that a function reaches through its surroundings, so that they keep a name."""
    from inspect import getclosurevars, isfunction, ismethod

    from torch import nn

    around: dict[str, Any] = {}
    if ismethod(function):
        around["self"] = function.__self__
    elif isfunction(function):
        variables = getclosurevars(function)
        around = {**variables.globals, **variables.nonlocals}
    return {name: value for name, value in around.items() if isinstance(value, nn.Module)}


@contextmanager
def _eval_mode(module: Any) -> Generator[None]:
    """Eval mode for the module and all within, each given its own mode back at the end."""
    modes = {child: child.training for child in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for child, training in modes.items():
            child.training = training


@contextmanager
def _quiet() -> Generator[None]:
    """
    Keep PyTorch's own reports off the terminal: what matters in them comes as an exception.

    What the user's code prints while it is traced goes to stderr: stdout is for the compiler.
    """
    level = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with redirect_stdout(sys.stderr), warnings.catch_warnings():
            # PyTorch 2.13's export uses what PyTorch 2.13 deprecates.
            warnings.filterwarnings("ignore", ".*treespec", FutureWarning)
            yield
    finally:
        logging.disable(level)


def _export(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The functional graph of the module, in ops that the dialect defines as far as possible."""
    import torch

    try:
        with torch.no_grad(), _eval_mode(module), _quiet():
            exported: Any = torch.export.export(module, args, kwargs, strict=False)
            return exported.run_decompositions(decompositions())
    except TilewrightError:
        raise
    except Exception as error:
        raise _export_error(error) from error


def _export_error(error: Exception) -> TilewrightError:
    if "DataDependent" not in type(error).__name__:
        return error_of(error)
    return UnsupportedError(
        "the program depends on the values of a tensor",
        where=str(place_of_exception(error) or ""),
        remedy="shapes and branches must follow from the inputs' shapes alone",
    )


# --- What is refused -------------------------------------------------------------------------


def is_node(value: Any) -> bool:
    """Whether an output is a tensor of the graph rather than a Python value."""
    from torch.fx import Node

    return isinstance(value, Node)


def _calls(exported: Any) -> list[Any]:
    """The nodes that compute something: the dead and the mere assertions about dtypes are out."""
    import torch

    asserts = torch.ops.aten._assert_tensor_metadata.default
    calls = [node for node in exported.graph.nodes if node.op not in ("placeholder", "output")]
    return [n for n in calls if n.target is not asserts and (n.users or n.is_impure())]


def _tensors(value: Any) -> list[Any]:
    """The tensors of a node's `val`: itself, or those in its tuple."""
    import torch

    values = cast(Sequence[Any], value if isinstance(value, tuple | list) else [value])
    return [v for v in values if isinstance(v, torch.Tensor)]


def _check_mutations(exported: Any) -> None:
    from torch.export.graph_signature import OutputKind

    for spec in exported.graph_signature.output_specs:
        if spec.kind is OutputKind.USER_OUTPUT:
            continue
        written = "input" if spec.kind is OutputKind.USER_INPUT_MUTATION else "buffer"
        raise UnsupportedError(
            f"the program writes to its {written} {spec.target!r}",
            remedy="return the new value instead of writing in place",
        )


def _check_sizes(exported: Any) -> None:
    """Every value is a tensor whose sizes are known."""
    import torch

    for node in exported.graph.nodes:
        value = node.meta.get("val")
        sizes = [size for tensor in _tensors(value) for size in tensor.shape]
        symbols = [v for v in (value, *sizes) if isinstance(v, torch.SymInt | torch.SymFloat)]
        symbols += [v for v in (value,) if isinstance(v, torch.SymBool)]
        if symbols:
            raise UnsupportedError(
                f"the shape or value of {node.name} is only known when the program runs",
                where=str(place_of_node(node) or ""),
                remedy="shapes must follow from the inputs' shapes alone",
            )


def _check_ops(exported: Any) -> None:
    """Every call is an op of the dialect, or all that are not are named in one error."""
    import operator

    import torch

    calls = [n for n in _calls(exported) if n.target is not operator.getitem]
    unknown = [n for n in calls if op_of_call(n.target, n.args) is None]
    random = [
        n for n in unknown if torch.Tag.nondeterministic_seeded in getattr(n.target, "tags", ())
    ]
    if random:
        raise UnsupportedError(
            f"random numbers are drawn inside the program: {_named(random)}",
            remedy="draw them outside and pass them in as an input, or switch off training=True",
        )
    if unknown:
        raise UnsupportedError(f"PyTorch operators that are not supported: {_named(unknown)}")


def _named(nodes: Sequence[Any]) -> str:
    """Calls by operator, node and line; an operator that occurs again is only counted."""
    by_target: dict[str, list[Any]] = {}
    for node in nodes:
        by_target.setdefault(str(node.target), []).append(node)
    return ", ".join(
        f"{target} (node {first.name}{_at(first)}{f' and {len(more)} more' if more else ''})"
        for target, (first, *more) in by_target.items()
    )


def _at(node: Any) -> str:
    place = place_of_node(node)
    return f" at {place}" if place else ""


def _check_dtypes(exported: Any) -> None:
    """Every tensor that is used is float32."""
    arguments = [n for n in exported.graph.nodes if n.op == "placeholder" and n.users]
    for node in (*arguments, *_calls(exported)):
        for tensor in _tensors(node.meta.get("val")):
            if dtype_name(tensor.dtype) == "float32":
                continue
            what = "the input" if node.op == "placeholder" else "the result of node"
            raise UnsupportedError(
                f"{what} {node.name!r} has dtype {tensor.dtype}; only torch.float32 is supported",
                where=str(place_of_node(node) or ""),
            )


# --- Translation -----------------------------------------------------------------------------


def _inputs(exported: Any) -> dict[str, Input]:
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
    inputs: dict[str, Input] = {}
    for spec in exported.graph_signature.input_specs:
        tensor = next(user) if spec.kind is InputKind.USER_INPUT else None
        if isinstance(spec.arg, ConstantArgument):
            continue
        if not isinstance(spec.arg, TensorArgument):
            raise UnsupportedError(f"the input {spec.arg.name!r} is not a tensor")
        name = spec.arg.name
        if tensor is not None:
            inputs[name] = Input(name, "input", tensor)
            continue
        if name not in used:
            continue
        state = exported.state_dict if spec.target in exported.state_dict else exported.constants
        inputs[name] = Input(spec.target, stored[spec.kind], state[spec.target])
    return inputs


def _translate(exported: Any, inputs: dict[str, Input]) -> Captured:
    placeholders = [n for n in exported.graph.nodes if n.name in inputs and n.op == "placeholder"]
    block = Block(arg_types=[type_of(node.meta["val"]) for node in placeholders])
    values: dict[Any, SSAValue] = {}
    for node, argument in zip(placeholders, block.args, strict=True):
        values[node] = argument
        argument.name_hint = node.name

    for node in _calls(exported):
        op_class = op_of_call(node.target, node.args)
        assert op_class is not None
        result = type_of(node.meta["val"])
        op = build_op(op_class, node.args, node.kwargs, values, result)
        op.location = _location(node)
        op.result.name_hint = node.name
        block.add_op(op)
        values[node] = op.result

    outputs = list(exported.graph.output_node().args[0])
    returned = [values[output] for output in outputs if is_node(output)]
    if not returned:
        raise UsageError("the program returns no tensor")
    block.add_op(ReturnOp(*returned))
    module = ModuleOp([_function(block, list(inputs.values()), returned)])
    module.verify()
    return Captured(module, exported, list(inputs.values()), outputs)


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
