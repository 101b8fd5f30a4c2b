# SPDX-License-Identifier: Apache-2.0
"""
Signature of an exported program: the tensors that go in, and the values that come out.

An exported graph is functional. The new value of an input `x` or a buffer `cache` that the program
writes in place is a result of the graph. It comes before the results of the user's function.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tilewright.errors import UnsupportedError

Kind = Literal["input", "parameter", "buffer", "constant"]

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Input:
    """One argument of the captured function."""

    node: str
    """Name of its FX node, and of the captured function's argument."""
    name: str
    """
    Name of a user input in the signature of the exported graph; else the path of a parameter,
    buffer or constant in the module: `0.weight`.
    """
    kind: Kind
    tensor: Any
    """Tensor given at capture, or found in the module: real or fake."""

    def __repr__(self) -> str:
        dtype = str(self.tensor.dtype).removeprefix("torch.")
        kind = "" if self.kind == "input" else f"{self.kind} "
        return f"<Input {self.name}: {kind}{dtype}{list(self.tensor.shape)}>"


@dataclass(frozen=True)
class Output:
    """One output of the graph: a new value of a tensor written in place, or a returned value."""

    value: Any
    """FX node of a tensor, or a Python value."""
    mutates: Input | None = None
    """Input whose new value this output is; None for a result of the user's function."""

    @property
    def is_tensor(self) -> bool:
        """True if the value is a tensor of the graph rather than a Python value."""
        from torch.fx import Node

        return isinstance(self.value, Node)


def inputs_of(exported: Any) -> list[Input]:
    """
    Return the tensor arguments of the graph, in order.

    Python values are baked in already. User inputs stay even if nothing uses them; other inputs
    stay if used.
    """
    from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument
    from torch.utils import _pytree as pytree

    user = iter(pytree.tree_leaves(exported.example_inputs))
    stored: dict[InputKind, Kind] = {
        InputKind.PARAMETER: "parameter",
        InputKind.BUFFER: "buffer",
        InputKind.CONSTANT_TENSOR: "constant",
    }
    needed = {node.name for node in exported.graph.nodes if node.users}
    needed |= {*_mutated(exported)}
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
        if name not in needed:
            continue
        state = exported.state_dict if spec.target in exported.state_dict else exported.constants
        inputs.append(Input(name, spec.target, stored[spec.kind], state[spec.target]))
    return inputs


def outputs_of(exported: Any, inputs: list[Input]) -> list[Output]:
    """
    Return the outputs of the graph, in order: first the new values of tensors written in place.
    """
    by_node = {input.node: input for input in inputs}
    written = [by_node[name] for name in _mutated(exported)]
    values = list(exported.graph.output_node().args[0])
    mutations = [Output(value, input) for value, input in zip(values, written, strict=False)]
    return mutations + [Output(value) for value in values[len(written) :]]


def _mutated(exported: Any) -> Iterator[str]:
    """Yield the FX names of the inputs that are written in place, in the order of their outputs."""
    from torch.export.graph_signature import OutputKind

    signature = exported.graph_signature
    nodes = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target}
    stored = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)
    for spec in signature.output_specs:
        if spec.kind is OutputKind.USER_INPUT_MUTATION:
            yield spec.target
        elif spec.kind in stored:
            yield nodes[spec.target]
        elif spec.kind is not OutputKind.USER_OUTPUT:
            raise UnsupportedError(f"the program has an output of the kind {spec.kind.name}")
