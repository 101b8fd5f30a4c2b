# SPDX-License-Identifier: Apache-2.0
"""A function and its inputs, of which there can be any number of copies on a device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import Expression
from tilewright.tools.bench.request import AnyCase


@dataclass(frozen=True)
class Inputs:
    """One copy of all that a call reads."""

    named: Mapping[str, Any]
    """Parameters and buffers of the module, if it is one."""
    leaves: tuple[Any, ...]
    """The arguments, flat: tensors, and Python values."""
    values: tuple[Any, ...]
    """The same as a plan takes it: one tensor for each of `captured.inputs`."""


class Workload:
    """
    A module or a function, called with arguments, for inference.

    Raises `UnsupportedError` and `UsageError` as `capture` does, and `UsageError` for what writes
    its inputs: the second call would compute something else.
    """

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None):
        from torch import nn
        from torch.export import ExportedProgram
        from torch.utils import _pytree as pytree

        self.captured: Captured = capture(module, args, kwargs)
        if self.captured.mutated:
            names = ", ".join(input.name for input in self.captured.mutated)
            raise UsageError(f"the program writes {names}: no two calls would compute the same")
        if isinstance(module, ExportedProgram):
            args, kwargs = module.example_inputs or ((), {})
            module = module.module()
        elif isinstance(module, nn.Module):
            module.eval()
        self._module = module
        self._named = _named(module) if isinstance(module, nn.Module) else {}
        leaves, self._structure = pytree.tree_flatten((args, dict(kwargs or {})))
        self._leaves = tuple(leaves)

    def copy(self, device: str) -> Inputs:
        """Return the inputs once more, in memory of their own."""
        import torch

        def copied(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return value.detach().to(device, copy=True)

        named = {name: copied(tensor) for name, tensor in self._named.items()}
        leaves = tuple(copied(leaf) for leaf in self._leaves)
        given = (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
        values = tuple(
            next(given)
            if input.kind == "input"
            else (named[input.name] if input.name in named else copied(input.tensor))
            for input in self.captured.inputs
        )
        return Inputs(named, leaves, values)

    @property
    def bytes(self) -> int:
        """What one copy takes."""
        tensors = [input.tensor for input in self.captured.inputs]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    @property
    def function(self) -> Callable[[Mapping[str, Any], Any, Any], Any]:
        """What PyTorch computes, of named tensors, arguments and keyword arguments."""
        from torch.func import functional_call

        module = self._module
        if not self._named:
            return lambda named, args, kwargs: module(*args, **kwargs)
        return lambda named, args, kwargs: functional_call(module, dict(named), args, kwargs)

    def arguments(self, inputs: Inputs) -> tuple[Mapping[str, Any], Any, Any]:
        """Inputs as `function` takes them."""
        from torch.utils import _pytree as pytree

        args, kwargs = pytree.tree_unflatten(list(inputs.leaves), self._structure)
        return inputs.named, args, kwargs


def _named(module: Any) -> dict[str, Any]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def workload_of_case(case: AnyCase) -> Workload:
    """Return a case, with inputs that are always the same."""
    try:
        return workload_of_expression(case.program(fake=False))
    except UsageError as err:
        raise UsageError(f"case '{case.name}': {err}") from err


def workload_of_expression(expression: Expression) -> Workload:
    """What `-c`, `model.pt2` or `file.py:NAME` stands for."""
    return Workload(expression.module, expression.args, expression.kwargs)
