# SPDX-License-Identifier: Apache-2.0
"""
The 84 fp32 kernel shapes of TinyLlama-1.1B and Qwen2.5-7B: `suite84.json` as functions and inputs.

    for case in cases("rmsnorm"):
        case.function(*case.inputs("cpu"))
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

DATA = Path(__file__).with_name("suite84.json")

_RANDOM = "all inputs torch.randn"


@dataclass(frozen=True)
class Case:
    """One expression at one set of shapes."""

    name: str
    """`matmul.qwen.q_proj.s32`: the operation, the model, what it is there, the tokens."""
    op: str
    expression: str
    """PyTorch, of the inputs t0, t1, ..."""
    shapes: tuple[tuple[int, ...], ...]
    """Of the inputs."""
    notes: str
    """Which inputs are not random: `t3 = ...`, where S is the number of tokens."""
    tokens: int
    flops: int
    min_bytes: int
    """To read every input once and write the output once."""
    floor_us: float
    """What an H100 SXM needs at least, in microseconds."""

    @property
    def function(self) -> Callable[..., torch.Tensor]:
        """The expression as a function of the inputs."""
        names = ", ".join(f"t{number}" for number in range(len(self.shapes)))
        return eval(f"lambda {names}: {self.expression}", {"torch": torch, "F": F})

    def inputs(self, device: str = "meta", seed: int = 0) -> tuple[torch.Tensor, ...]:
        """Inputs as the notes say; those on `meta` have shapes and no values."""
        generator = None if device == "meta" else torch.Generator().manual_seed(seed)
        source = "meta" if generator is None else "cpu"
        drawn = [torch.randn(s, generator=generator, device=source) for s in self.shapes]
        if self.notes != _RANDOM:
            name, _, value = self.notes.partition(" = ")
            with torch.device(source):
                drawn[int(name[1:])] = eval(value, {"torch": torch, "S": self.tokens})
        return tuple(tensor.to(device) for tensor in drawn)


def cases(pattern: str = "") -> Iterator[Case]:
    """The cases whose name contains `pattern`, in the order of the file."""
    for entry in json.loads(DATA.read_text())["cases"]:
        if pattern in entry["name"]:
            yield _case(entry)


def _case(entry: dict[str, Any]) -> Case:
    assert entry["dtype"] == "float32"
    return Case(
        name=entry["name"],
        op=entry["op"],
        expression=entry["expression"],
        shapes=tuple(tuple(shape) for shape in entry["input_shapes"]),
        notes=entry["input_notes"],
        tokens=entry["seq_len"],
        flops=entry["flops"],
        min_bytes=entry["min_bytes"],
        floor_us=entry["floor_us_h100"],
    )
