# SPDX-License-Identifier: Apache-2.0
"""
Compiled graph as a function: flat tensors in, flat tensors out, with the strides that PyTorch gives
them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.arrays import tensor_of
from tilewright.frontend.capture import Captured

Run = Callable[[Sequence[Any]], Sequence[Any]]
"""Function from tensors for `Captured.inputs` to the results of `@main`, as arrays or tensors."""

Compile = Callable[[Captured], Run]
"""
Function that compiles a captured program. Raises `UnsupportedError` for errors that only lowering
finds.
"""

Source = Any
"""Source of a graph's argument: the position of an input, or a constant tensor."""


def sources_of(
    exported: Any, state: Mapping[str, int], arguments: Sequence[int]
) -> dict[str, Source]:
    """
    Return the source of each input of an exported graph, by name.

    `state` maps the paths of parameters and buffers to their positions among the graph's inputs,
    and `arguments` are the positions of the inputs that the module takes.
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
    """Return the tensor that a source stands for in a call with `inputs`."""
    return inputs[source] if isinstance(source, int) else source


class Kernels:
    """
    Callable that computes the results of a graph from flat input tensors, with kernels.

    The callable writes nothing back: the new values of inputs that the graph writes come first
    among the results.
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
    """
    Device and strides that a result must have: kernels write row by row, PyTorch does not always.
    """

    def __init__(self, like: Any):
        self.device = like.device
        self.size = tuple(like.shape)
        self.strides = tuple(like.stride())
        self.is_rows = like.is_contiguous()
        self.has_gaps = not self.is_rows and not _is_permuted(like)

    def of(self, result: Any) -> Any:
        """
        Return a result as a tensor with this device and these strides. Strides with gaps are not
        restored.
        """
        import torch

        tensor = tensor_of(result).to(self.device)
        if self.has_gaps or tensor.stride() == self.strides:
            return tensor
        if self.is_rows:  # strides of axes of size 0 or 1 may differ
            return tensor.as_strided(self.size, self.strides)
        laid = torch.empty_strided(self.size, self.strides, dtype=tensor.dtype, device=self.device)
        return laid.copy_(tensor)


def _is_permuted(tensor: Any) -> bool:
    """True if a tensor is contiguous after a permutation of its axes."""
    axes = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return tensor.permute(axes).is_contiguous()
