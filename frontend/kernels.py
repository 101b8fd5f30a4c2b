# SPDX-License-Identifier: Apache-2.0
"""A compiled graph as a function: flat tensors in, flat tensors out, as PyTorch lays them out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.capture import Captured

Run = Callable[[Sequence[Any]], Sequence[Any]]
"""From tensors for `Captured.inputs` to the results of `@main`, arrays or tensors."""

Compile = Callable[[Captured], Run]
"""Raises `UnsupportedError` for what only shows when it is lowered."""

Source = Any
"""Where an argument of a graph comes from: the position of an input, or a tensor as it is."""


def sources_of(
    exported: Any, state: Mapping[str, int], arguments: Sequence[int]
) -> dict[str, Source]:
    """
    Where each input of an exported graph comes from, by name.

    `state` has the positions of parameters and buffers by path, and `arguments` those of what the
    module takes.
    """
    from torch.export.graph_signature import InputKind

    user = iter(arguments)
    sources: dict[str, Source] = {}
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            sources[spec.arg.name] = next(user)
        elif spec.target in state:
            sources[spec.arg.name] = state[spec.target]
        else:
            sources[spec.arg.name] = exported.constants[spec.target]
    return sources


def take(source: Source, inputs: Sequence[Any]) -> Any:
    """What a source gives in one call."""
    return inputs[source] if isinstance(source, int) else source


class Kernels:
    """
    The results of a graph for flat inputs, all of them tensors, computed by kernels.

    Nothing is written back: new values of what the graph writes in place stand first.
    """

    def __init__(self, captured: Captured, sources: Mapping[str, Source], compile: Compile):
        given = (sources.get(i.node, i.tensor) for i in captured.inputs)
        self._sources = list(given)
        self._forms = [_Form(output.value.meta["val"]) for output in captured.outputs]
        self._run = compile(captured)

    def __call__(self, *inputs: Any) -> list[Any]:
        results = self._run([take(source, inputs) for source in self._sources])
        return [form.of(result) for form, result in zip(self._forms, results, strict=True)]


class _Form:
    """Where a result lies, and how: kernels write row by row, PyTorch not always."""

    def __init__(self, like: Any):
        self.device = like.device
        self.size = tuple(like.shape)
        self.strides = tuple(like.stride())
        self.is_rows = like.is_contiguous()
        self.has_gaps = not self.is_rows and not _is_permuted(like)

    def of(self, result: Any) -> Any:
        """Return a result as a tensor of this form."""
        import torch

        tensor = tensor_of(result).to(self.device)
        if self.has_gaps or tensor.stride() == self.strides:
            return tensor
        if self.is_rows:  # which axes of one element, or none, may say in several ways
            return tensor.as_strided(self.size, self.strides)
        laid = torch.empty_strided(self.size, self.strides, dtype=tensor.dtype, device=self.device)
        return laid.copy_(tensor)


def _is_permuted(tensor: Any) -> bool:
    """True if a tensor has no gaps, but its axes lie in another order."""
    axes = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return tensor.permute(axes).is_contiguous()
