# SPDX-License-Identifier: Apache-2.0
"""Workload: a function and its inputs, which can be copied any number of times to a device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import Expression
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.input.source import set_precision


@dataclass(frozen=True)
class Inputs:
    """One copy of all inputs of a call."""

    named: Mapping[str, Any]
    """Parameters and buffers of the module, if it is one."""
    leaves: tuple[Any, ...]
    """Flattened arguments: tensors and Python values."""
    values: tuple[Any, ...]
    """Inputs in the order of the plan: one tensor for each of `captured.inputs`."""


class Workload:
    """
    Module or function with its arguments, for inference, in a precision of float32 products.

    Raises `UnsupportedError` and `UsageError` as `capture` does. Also raises `UsageError` for a
    program that writes its inputs, because a second call would compute something else.
    """

    def __init__(
        self,
        module: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] | None = None,
        precision: str | None = None,
    ):
        from torch import nn
        from torch.export import ExportedProgram
        from torch.utils import _pytree as pytree

        self.captured: Captured = capture(module, args, kwargs)
        set_precision(self.captured.module, precision)
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
        """Return a copy of the inputs on the device, in memory of their own."""
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
        """Bytes of one copy of the inputs."""
        tensors = [input.tensor for input in self.captured.inputs]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    @property
    def function(self) -> Callable[[Mapping[str, Any], Any, Any], Any]:
        """PyTorch function of the named tensors, arguments and keyword arguments."""
        from torch.func import functional_call

        module = self._module
        if not self._named:
            return lambda named, args, kwargs: module(*args, **kwargs)
        return lambda named, args, kwargs: functional_call(module, dict(named), args, kwargs)

    def arguments(self, inputs: Inputs) -> tuple[Mapping[str, Any], Any, Any]:
        """Return the arguments for `function`."""
        from torch.utils import _pytree as pytree

        args, kwargs = pytree.tree_unflatten(list(inputs.leaves), self._structure)
        return inputs.named, args, kwargs


def _named(module: Any) -> dict[str, Any]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def workload_of_case(case: AnyCase, precision: str | None = None) -> Workload:
    """
    Return the workload of a case in a precision of float32 products; the inputs are always the
    same.
    """
    try:
        return workload_of_expression(case.program(fake=False), precision)
    except UsageError as err:
        raise UsageError(f"case '{case.name}': {err}") from err


def workload_of_expression(expression: Expression, precision: str | None = None) -> Workload:
    """
    Return the workload of a program that `-c`, `model.pt2` or `file.py:NAME` names, in a precision
    of float32 products.
    """
    return Workload(expression.module, expression.args, expression.kwargs, precision)
