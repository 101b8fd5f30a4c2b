# SPDX-License-Identifier: Apache-2.0
"""
Preparation for capture of the graphs that Dynamo, the front end of `torch.compile`, gives to a
backend.

A graph from Dynamo takes everything as an input: parameters and buffers, sizes, and numbers.

    def forward(self, s77, L_x_, L_scale_, L_self_modules_norm_parameters_weight_): ...

Parameters and buffers become attributes under the names that the user knows, such as `norm.weight`,
so that capture finds them as in any module. Numbers become plain inputs: Dynamo wraps them in
tensors, which the graph unwraps again.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReadyGraph:
    """
    Copy of a graph from Dynamo, ready for capture. Inputs are identified by their position in the
    original's call.
    """

    module: Any
    """The `torch.fx.GraphModule`. It takes the inputs listed in `arguments`, in order."""
    state: dict[str, int]
    """Positions of the parameters and buffers, which are attributes of `module`, by path."""
    arguments: list[int]
    """Positions of the inputs that `module` takes."""

    def call_of(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the elements of `inputs` that `module` takes."""
        return tuple(inputs[position] for position in self.arguments)


def in_pytorch(graph: Any) -> Callable[..., Any]:
    """
    Return a function that runs a graph module in PyTorch.

    The function is the module's `forward`, because a call of the module prints a traceback of each
    error before it raises the error. The first call of a `forward` whose code is not generated yet
    does that too.
    """
    _ = graph.code  # generates the code
    return graph.forward


def ready(graph: Any, inputs: Sequence[Any]) -> ReadyGraph:
    """
    Return a copy of a graph from Dynamo that holds the parameters and buffers among `inputs` as
    attributes, and takes numbers as plain inputs.
    """
    from torch.fx import GraphModule

    module = GraphModule(graph, copy.deepcopy(graph.graph))
    originals = graph.graph.find_nodes(op="placeholder")
    placeholders = module.graph.find_nodes(op="placeholder")
    for position in numbers_among(placeholders):
        _take_as_number(placeholders[position])
    _name_modules(module)
    paths = {n: path for n, node in enumerate(originals) if (path := path_of(node)) is not None}
    return hold(module, paths, inputs)


_ROOT = re.compile(r"^[A-Z]\['[^']*'\]\.?")
"""
Prefix of a module path in Dynamo, such as `L['self'].`; the rest is the path that the user knows.
"""


def _name_modules(module: Any) -> None:
    """Rename the modules that nodes come from to the user's paths: `layers.0`."""
    for node in module.graph.nodes:
        if stack := node.meta.get("nn_module_stack"):
            named = {key: (_ROOT.sub("", path), kind) for key, (path, kind) in stack.items()}
            node.meta["nn_module_stack"] = named


def hold(module: Any, paths: Mapping[int, str], inputs: Sequence[Any]) -> ReadyGraph:
    """
    Turn the inputs of a graph module at the positions in `paths` into its attributes, in place.
    Return it as a `ReadyGraph` with its other inputs.
    """
    placeholders = module.graph.find_nodes(op="placeholder")
    state: dict[str, int] = {}
    for position, preferred in paths.items():
        path = _free_path(module, preferred)
        state[path] = position
        _hold(module, path, inputs[position], placeholders[position])
    module.recompile()
    return ReadyGraph(module, state, [n for n in range(len(placeholders)) if n not in paths])


def numbers_among(placeholders: Sequence[Any]) -> frozenset[int]:
    """
    Return the positions of the inputs that are Python numbers, which Dynamo passes as tensors.
    """
    return frozenset(n for n, node in enumerate(placeholders) if _is_number(node))


_STATE = re.compile(r"(?:_modules|_parameters|_buffers)\['([^']+)'\]")


def path_of(placeholder: Any) -> str | None:
    """Return the path of a parameter or buffer in its module; None for any other input."""
    name: Any = getattr(getattr(placeholder, "_dynamo_source", None), "name", "")
    source = str(name() if callable(name) else name)
    found = _STATE.findall(source)
    is_state = bool(re.search(r"(?:_parameters|_buffers)\['[^']+'\]$", source))
    return ".".join(found) if is_state and not any("." in part for part in found) else None


def _free_path(module: Any, path: str) -> str:
    """
    Return `path`, with underscores added to its first part if something else has that name, such as
    another module.
    """
    first, _, rest = path.partition(".")
    while _is_taken(module, first, rest):
        first = f"{first}_"
    return f"{first}.{rest}" if rest else first


def _is_taken(module: Any, first: str, rest: str) -> bool:
    from torch import nn

    if first not in module._modules:
        return hasattr(module, first)
    owner = module._modules[first]
    if not rest or type(owner) is not nn.Module:
        return True
    return _is_taken(owner, *rest.partition(".")[::2])


def _hold(module: Any, path: str, tensor: Any, placeholder: Any) -> None:
    """Turn an input of a graph module into an attribute."""
    from torch import nn

    owner = module
    *around, name = path.split(".")
    for part in around:
        if part not in owner._modules:
            owner.add_module(part, nn.Module())
        owner = owner._modules[part]
    if isinstance(tensor, nn.Parameter):
        owner.register_parameter(name, tensor)
    else:
        owner.register_buffer(name, tensor)
    graph = placeholder.graph
    with graph.inserting_before(placeholder):
        attribute = graph.get_attr(path)
    attribute.meta = {**placeholder.meta}
    placeholder.replace_all_uses_with(attribute)
    graph.erase_node(placeholder)


def _is_number(placeholder: Any) -> bool:
    """
    True if an input is a Python number that Dynamo wrapped: a scalar tensor that the graph only
    unwraps.
    """
    import torch

    value = placeholder.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or value.shape or value.device.type != "cpu":
        return False
    return bool(placeholder.users) and all(
        user.op == "call_method" and user.target == "item" for user in placeholder.users
    )


def _take_as_number(placeholder: Any) -> None:
    for user in [*placeholder.users]:
        user.replace_all_uses_with(placeholder)
        placeholder.graph.erase_node(user)
