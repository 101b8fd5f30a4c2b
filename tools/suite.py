# SPDX-License-Identifier: Apache-2.0
"""Files of expressions with the shapes of their inputs, as `benchmarks/suite84.json` is one."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError
from tilewright.frontend.expression import Expression

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
    def function(self) -> Callable[..., Any]:
        """The expression as a function of the inputs, which are tensors."""
        import torch
        import torch.nn.functional

        known = {"torch": torch, "F": torch.nn.functional}
        names = ", ".join(f"t{number}" for number in range(len(self.shapes)))
        try:
            return eval(f"lambda {names}: {self.expression}", known)
        except SyntaxError as err:
            raise UsageError(f"{err.msg}: {self.expression}") from err

    def program(self, fake: bool) -> Expression:
        """The function and its inputs; these are always the same ones, unless they are `fake`."""
        return Expression(self.function, self.inputs("meta" if fake else "cpu"))

    @property
    def statements(self) -> str:
        """The same as one text, as `-c` takes it."""
        drawn = [f"t{n} = torch.randn({list(shape)})" for n, shape in enumerate(self.shapes)]
        special = [] if self.notes == _RANDOM else [f"S = {self.tokens}", self.notes]
        return "; ".join([*drawn, *special, self.expression])

    def inputs(self, device: str = "meta", seed: int = 0) -> tuple[Any, ...]:
        """
        Tensors as the notes say; those on `meta` have shapes and no values. `UsageError` where
        there are no such tensors.
        """
        try:
            return self._drawn(device, seed)
        except Exception as err:  # of whatever kind: the notes are a user's code
            raise UsageError(f"its inputs: {err}") from err

    def _drawn(self, device: str, seed: int) -> tuple[Any, ...]:
        import torch

        generator = None if device == "meta" else torch.Generator().manual_seed(seed)
        source = "meta" if generator is None else "cpu"
        drawn = [torch.randn(s, generator=generator, device=source) for s in self.shapes]
        if self.notes != _RANDOM:
            name, _, value = self.notes.partition(" = ")
            with torch.device(source):
                drawn[int(name[1:])] = eval(value, {"torch": torch, "S": self.tokens})
        return tuple(tensor.to(device) for tensor in drawn)


def read_cases(path: str | Path, pattern: str = "") -> Iterator[Case]:
    """The cases whose name contains `pattern`, in the order of the file."""
    try:
        cases = [_case(entry) for entry in json.loads(Path(path).read_text())["cases"]]
    except OSError as err:
        raise UsageError(f"cannot read '{path}': {err.strerror}") from err
    except (ValueError, KeyError, TypeError) as err:
        raise UsageError(
            f"'{path}' is no list of cases", remedy="benchmarks/suite84.json shows what one is"
        ) from err
    if not cases:
        raise UsageError(f"'{path}' has no cases")
    yield from (case for case in cases if pattern in case.name)


def _case(entry: dict[str, Any]) -> Case:
    if entry["dtype"] != "float32":
        raise UsageError(f"case '{entry['name']}' is {entry['dtype']}; suites are float32")
    return Case(
        name=str(entry["name"]),
        op=entry["op"],
        expression=entry["expression"],
        shapes=tuple(tuple(shape) for shape in entry["input_shapes"]),
        notes=entry["input_notes"],
        tokens=entry["seq_len"],
        flops=int(entry["flops"]),
        min_bytes=int(entry["min_bytes"]),
        floor_us=float(entry["floor_us_h100"]),
    )
