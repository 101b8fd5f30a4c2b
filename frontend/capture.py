# SPDX-License-Identifier: Apache-2.0
"""
Capture: turn a PyTorch module or function and its inputs into a module of Torch IR.

The command line, the Python API and `torch.compile` all call `capture`. It exports with
`torch.export`, breaks down what the dialect does not define with `run_decompositions`, and
translates node by node. Programs that cannot be compiled are refused here, by operator and place.
"""

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NoReturn

from xdsl.dialects.builtin import (
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.verify_once import verify_op
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import simplify
from tilewright.dialects.origin import ModuleOfOp, Origin, located
from tilewright.dialects.prim import IotaOp, PredicateOp
from tilewright.dialects.torch.op import TorchOp
from tilewright.errors import UnsupportedError, UsageError, counted
from tilewright.frontend.affine_values import Affine, iota, predicate
from tilewright.frontend.argument_attributes import argument_attributes, result_attributes
from tilewright.frontend.arguments import check_arguments
from tilewright.frontend.aten import build_op, op_of_call, type_of, types_of
from tilewright.frontend.export import break_down, export
from tilewright.frontend.fold import fold
from tilewright.frontend.nesting import nested
from tilewright.frontend.numbers import numbers_to_tensors
from tilewright.frontend.open_sizes import warn_of_open_sizes
from tilewright.frontend.outline import ModuleCall, outline
from tilewright.frontend.positions import rematerialise_positions
from tilewright.frontend.refusals import calls_of, check
from tilewright.frontend.signature import KINDS, Input, Output, inputs_of, outputs_of
from tilewright.frontend.source import place_of_node
from tilewright.stages import stage
from tilewright.uncollected import uncollected

_EVAL_BATCH_NORM = "_native_batch_norm_legit_no_training"
"""
Operator that `torch.export` makes of `batch_norm` in eval mode; the name is unfit for kernels.
"""


@dataclass(frozen=True, eq=False)
class Captured:
    """Captured program: its Torch IR, and what is needed to call it and to check its results."""

    module: ModuleOp
    """
    Module with the function `@main`, from `inputs` to the tensors among `outputs`, and the
    functions that it calls.
    """
    exported: Any
    """The decomposed `torch.export.ExportedProgram`."""
    inputs: list[Input]
    """Arguments of `@main`, in order."""
    outputs: list[Output]
    """
    Outputs in order: first the new values of tensors written in place, then the results of the
    user's function, flat.
    """

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise `UsageError`: fake tensors and PyTorch's graphs cannot be copied or pickled."""
        raise UsageError(
            "a captured program cannot be copied or pickled",
            remedy="copy or save the module, and capture the copy",
        )

    def __str__(self) -> str:
        return str(self.module)

    def __repr__(self) -> str:
        return f"<Captured: {self.signature}>"

    @property
    def signature(self) -> str:
        """
        Text with the number of inputs of each kind, and of outputs: `1 input, 2 parameters -> 1
        output`.
        """
        kinds = Counter(input.kind for input in self.inputs)
        given = [counted(kinds[kind], kind) for kind in KINDS if kinds[kind]]
        returned = len(self.outputs) - len(self.mutated)
        return f"{', '.join(given) or 'no inputs'} -> {counted(returned, 'output')}"

    @cached_property
    def mutated(self) -> list[Input]:
        """Inputs and buffers that are written in place; their new values are the first results."""
        return [output.mutates for output in self.outputs if output.mutates is not None]

    def unflatten(self, tensors: Sequence[Any]) -> Any:
        """
        Return the results of the user's function, nested as it nests them; `tensors` are all
        results of `@main`.
        """
        results = iter(tensors[len(self.mutated) :])
        returned = (output for output in self.outputs if output.mutates is None)
        leaves = (next(results) if output.is_tensor else output.value for output in returned)
        return nested(leaves, self.out_spec)

    @cached_property
    def plain_inputs(self) -> list[tuple[Any, Any]] | None:
        """
        Shape and dtype of each argument of the user's function; None unless all arguments are
        positional tensors.
        """
        import torch

        args, kwargs = self.exported.example_inputs
        if kwargs or not all(isinstance(value, torch.Tensor) for value in args):
            return None
        return [(value.shape, value.dtype) for value in args]

    @cached_property
    def plain_results(self) -> Callable[[list[Any]], Any] | None:
        """
        Function that nests the user's results: `itemgetter(0)`, `tuple` or `list`. None unless the
        results are one tensor, or a flat tuple or list of tensors.
        """
        from torch.utils import _pytree as pytree

        returned = [output for output in self.outputs if output.mutates is None]
        if not returned or not all(output.is_tensor for output in returned):
            return None
        nests: tuple[Callable[[list[Any]], Any], ...] = (itemgetter(0), tuple, list)
        given = [*range(len(returned))]
        found = (nest for nest in nests if pytree.tree_structure(nest(given)) == self.out_spec)
        return next(found, None)

    @cached_property
    def out_spec(self) -> Any:
        """Nesting of the results, as PyTorch's `TreeSpec`."""
        return self.exported.call_spec.out_spec

    @cached_property
    def example(self) -> Any:
        """
        Example inputs of the capture, flattened: a list of pairs (path, leaf), and the `TreeSpec`
        of their nesting.
        """
        from torch.utils import _pytree as pytree

        return pytree.tree_flatten_with_path(self.exported.example_inputs)


def capture(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
) -> Captured:
    """
    Capture a module or a function, called with `args` and `kwargs`, for inference; return its Torch
    IR.

    `function` may also be a `torch.export.ExportedProgram`, whose example inputs are used if none
    are given. A module is captured in eval mode, and its own mode is restored. Raises
    `UnsupportedError` for programs that the compiler does not support, and `UsageError` where the
    user's own code fails.
    """
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    # In a fake mode of the caller's, constants of the program would lose their values.
    with stage("capture the program"), unset_fake_temporarily(), uncollected():
        check_arguments(args, kwargs or {})
        return capture_exported(_exported(function, args, dict(kwargs or {})))


def capture_exported(exported: Any) -> Captured:
    """
    Translate a program that `frontend.export` returned to Torch IR, and return it as a `Captured`.

    The program is changed in place. Raises `UnsupportedError`.
    """
    numbers_to_tensors(exported)
    fold(exported)
    check(exported)
    return _translate(exported, inputs_of(exported))


def _exported(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from torch.export import ExportedProgram

    if not isinstance(function, ExportedProgram):
        return export(function, args, kwargs)
    kwargs = _in_exported_order(function, kwargs)
    given = (args, kwargs) if args or kwargs else function.example_inputs or ((), {})
    warn_of_open_sizes(function, *given)
    return export(function, args, kwargs) if args or kwargs else break_down(function)


def _in_exported_order(exported: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """
    Return `kwargs` in the order of the export, which the input checks of the exported module
    require.
    """
    named: Mapping[str, Any] = exported.example_inputs[1] if exported.example_inputs else {}
    return {name: kwargs[name] for name in (*named, *kwargs) if name in kwargs}


def _translate(exported: Any, inputs: list[Input]) -> Captured:
    by_name = {node.name: node for node in exported.graph.nodes}
    placeholders = [by_name[input.node] for input in inputs]
    block = Block(arg_types=[type_of(node.meta["val"]) for node in placeholders])
    values: dict[Any, SSAValue] = {}
    for node, argument in zip(placeholders, block.args, strict=True):
        values[node] = argument
        argument.name_hint = node.name

    parts: dict[Any, Sequence[SSAValue]] = {}
    scopes: dict[Operation, Sequence[ModuleCall]] = {}
    for node in calls_of(exported):
        if node.target is operator.getitem:
            source, position = node.args
            values[node] = parts[source][position]
            continue
        op = _op_of(node, values)
        scopes[op] = _scope(node)
        op.location = _location(node)
        block.add_op(op)
        for result in op.results:
            result.name_hint = node.name.replace(_EVAL_BATCH_NORM, "batch_norm")
        if isinstance(node.meta["val"], tuple | list):
            parts[node] = op.results
            continue
        values[node] = op.results[0]

    outputs = outputs_of(exported, inputs)
    block.add_op(ReturnOp(*(values[output.value] for output in outputs if output.is_tensor)))
    main = _function(block, inputs, outputs)
    rematerialise_positions(main, scopes)
    module = ModuleOp([main, *outline(main, scopes)])
    for op in reversed(ops_in(module)):
        verify_op(op)
    return Captured(module, exported, inputs, outputs)


def _scope(node: Any) -> list[ModuleCall]:
    """Return the module calls that a node is part of, outermost first."""
    stack: Mapping[str, tuple[str, Any]] = node.meta.get("nn_module_stack") or {}
    return [
        ModuleCall(key, path, (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2])
        for key, (path, kind) in stack.items()
    ]


def _op_of(node: Any, values: Mapping[Any, SSAValue]) -> Operation:
    if (make := _FOLDED.get(node.target)) is not None:
        return make(*node.args)
    op_class = op_of_call(node.target, node.args)
    assert op_class is not None
    return _checked_op(op_class, node, values)


def _iota(shape: Sequence[int], value: Affine) -> Operation:
    return IotaOp(_map(shape, [value]), TensorType(i64, shape))


def _predicate(shape: Sequence[int], bounds: Sequence[Affine]) -> Operation:
    return PredicateOp(_map(shape, bounds), shape)


_FOLDED: Mapping[Any, Callable[..., Operation]] = {iota: _iota, predicate: _predicate}
"""
Functions that build the op for a call of a folded graph that is not ATen's, by the called function.
"""


def _map(shape: Sequence[int], values: Sequence[Affine]) -> AffineMap:
    dims = [AffineExpr.dimension(dim) for dim in range(len(shape))]
    terms = [[dim * c for dim, c in zip(dims, v.coefficients, strict=True)] for v in values]
    exprs = [simplify(sum(t, AffineExpr.constant(v.constant))) for t, v in zip(terms, values)]
    return AffineMap(len(shape), 0, tuple(exprs))


def _checked_op(
    op_class: type[TorchOp],
    node: Any,
    values: Mapping[Any, SSAValue],
) -> TorchOp:
    """
    Return the op of a node, verified while the node's place is known.

    PyTorch accepts some arguments for fake tensors that it refuses for real ones.
    """
    import torch

    where = str(place_of_node(node) or "")
    types = types_of(node.meta["val"])
    try:
        op = build_op(op_class, node.args, node.kwargs, values, types)
        if len(types) > 1:
            types = _types_of_results(node, op)
            op.drop_all_references()  # a dropped op must not count as a user
            op = build_op(op_class, node.args, node.kwargs, values, types)
        verify_op(op)
    except UnsupportedError as err:
        raise UnsupportedError(f"{node.target}: {err.message}", where=where) from err
    except VerifyException as err:
        if (default := torch.get_default_dtype()) is not torch.float32:
            raise UnsupportedError(
                f"{node.target}: its result depends on the default dtype, {default}",
                where=where,
                remedy="call torch.set_default_dtype(torch.float32) first, or pass the dtype",
            ) from err
        raise UsageError(f"{node.target}: {err}", where=where) from err
    return op


def _types_of_results(node: Any, op: TorchOp) -> list[TensorType[Attribute]]:
    """
    Return the types of a node's results: PyTorch's types for used results, the op's expected types
    for the others.

    The expected types are those on a CPU. On another device, the statistics of a batch norm have
    other sizes.
    """
    used = {part.args[1] for part in node.users if part.users}
    given, expected = types_of(node.meta["val"]), op.expected_types()
    if len(given) != len(expected):
        return given
    pairs = enumerate(zip(given, expected, strict=True))
    return [own if number in used else like for number, (own, like) in pairs]


def _function(block: Block, inputs: Sequence[Input], outputs: Sequence[Output]) -> FuncOp:
    returned = block.last_op
    assert isinstance(returned, ReturnOp)
    if not returned.arguments:
        raise UsageError("the program returns no tensor")
    type = FunctionType.from_lists(block.arg_types, [value.type for value in returned.arguments])
    arguments, results = argument_attributes(inputs, outputs), result_attributes(outputs)
    return FuncOp("main", type, Region(block), "public", arg_attrs=arguments, res_attrs=results)


def _location(node: Any) -> NameLoc:
    """Return the location of a node: its name and module, at the user's line if that is known."""
    place = place_of_node(node)
    line = UnknownLoc()
    if place is not None:
        line = FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))
    return located(Origin(node.name, _module_of(node)), line)


def _module_of(node: Any) -> ModuleOfOp | None:
    """
    Return the innermost module whose code calls a node; None for a function, which `export` wraps
    in a module.
    """
    *_, innermost = _scope(node) or [None]
    if innermost is None or innermost.name == "Module":
        return None
    return ModuleOfOp(innermost.path, innermost.name)
