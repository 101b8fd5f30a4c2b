# SPDX-License-Identifier: Apache-2.0
"""
Suites: files of expressions with the shapes of their inputs, such as `benchmarks/suite84.json`.

An expression is code that is executed, as with `-c`. All other fields are data.
"""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError, one_line
from tilewright.frontend.expression import Expression
from tilewright.text_file import read_text_file
from tilewright.tools.bench.suite_inputs import (
    Special,
    is_integer,
    special_inputs,
    special_tensor,
    statement,
)

DTYPES = ("float32", "bfloat16", "float16")
"""Possible dtypes of a case's inputs that are not integers; a case has one of them."""

_NO_CASES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""Errors that a file raises when it is read as a suite, but is JSON of another form."""


@dataclass(frozen=True)
class Case:
    """Case: one expression with the shapes of its inputs."""

    name: str
    """
    Name, as `matmul.qwen.q_proj.s32`: the operation, the model, its part, the number of tokens.
    """
    op: str
    expression: str
    """PyTorch expression of the inputs t0, t1, ..."""
    shapes: tuple[tuple[int, ...], ...]
    """Shapes of the inputs."""
    special: Special
    """Inputs that are not `torch.randn`."""
    tokens: int
    flops: int
    min_bytes: int
    """Bytes to read every input once and to write the output once."""
    floor_us: float
    """Lower bound of the time on an H100 SXM, in microseconds."""
    dtype: str = "float32"
    """Dtype of the inputs that are not integers, one of `DTYPES`."""

    @property
    def function(self) -> Callable[..., Any]:
        """Expression as a function of the inputs, which are tensors."""
        import torch
        import torch.nn.functional

        known = {"torch": torch, "F": torch.nn.functional}
        names = ", ".join(f"t{number}" for number in range(len(self.shapes)))
        try:
            return eval(f"lambda {names}: {self.expression}", known)
        except SyntaxError as err:
            raise UsageError(f"{err.msg}: {self.expression}") from err
        except (ValueError, RecursionError, MemoryError) as err:
            raise UsageError(f"its expression is not valid Python: {err}") from err

    def program(self, fake: bool) -> Expression:
        """
        Return the function and its inputs, which are the same for each call, or meta tensors if
        `fake`.
        """
        return Expression(self.function, self.inputs("meta" if fake else "cpu"))

    @property
    def statements(self) -> str:
        """Statements that create the inputs, followed by the expression, as one text for `-c`."""
        made = [self._statement(f"t{n}", shape) for n, shape in enumerate(self.shapes)]
        return "; ".join([*made, self.expression])

    def _statement(self, name: str, shape: tuple[int, ...]) -> str:
        if name in self.special:
            return statement(name, shape, self.special[name], self._dtype_argument)
        return f"{name} = torch.randn({[*shape]}{self._dtype_argument})"

    @property
    def _dtype_argument(self) -> str:
        return "" if self.dtype == "float32" else f", dtype=torch.{self.dtype}"

    def inputs(self, device: str = "meta", seed: int = 0) -> tuple[Any, ...]:
        """
        Return the inputs, random or special tensors; on the device `meta` they have shapes but no
        values. Raises `UsageError` if a tensor cannot be created.
        """
        try:
            return self._drawn(device, seed)
        except (RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as err:
            raise UsageError(f"its inputs: {err}") from err

    def _drawn(self, device: str, seed: int) -> tuple[Any, ...]:
        import torch

        generator = None if device == "meta" else torch.Generator().manual_seed(seed)
        source = "meta" if generator is None else "cpu"
        dtype = getattr(torch, self.dtype)

        def one(name: str, shape: tuple[int, ...]) -> Any:
            made = self.special.get(name)
            if made is None:
                return torch.randn(shape, generator=generator, device=source).to(device, dtype)
            tensor = special_tensor(shape, made, source, generator)
            return tensor.to(device) if is_integer(made) else tensor.to(device, dtype)

        return tuple(one(f"t{number}", shape) for number, shape in enumerate(self.shapes))


def read_cases(path: str | Path, pattern: str = "") -> Iterator[Case]:
    """Yield the cases whose name contains `pattern`, in the order of the file."""
    with _reading_suite(path):
        entries: Any = json.loads(read_text_file(path))["cases"]
        numbered = [*enumerate(entries)]
    cases: list[Case] = []
    for number, entry in numbered:
        with _reading_suite(path, f"case {number} "):
            cases.append(case_of_entry(entry))
    if not cases:
        raise UsageError(f"'{path}' has no cases")
    yield from (case for case in cases if pattern in case.name)


@contextmanager
def _reading_suite(path: str | Path, where: str = "it ") -> Generator[None]:
    """
    Turn an error of `_NO_CASES` into a `UsageError` with the reason why the file is not a suite.
    """
    try:
        yield
    except _NO_CASES as err:
        reason = f"has no {err}" if isinstance(err, KeyError) else f"is wrong: {one_line(err)}"
        raise UsageError(
            f"'{path}' is not a list of cases: {where}{reason}",
            remedy="benchmarks/suite84.json is an example",
        ) from err


def case_of_entry(entry: dict[str, Any]) -> Case:
    """Return the case of a JSON object. Raises an error of `_NO_CASES`, or `UsageError`."""
    name, shapes = str(entry["name"]), tuple(map(_shape, entry["input_shapes"]))
    if (dtype := entry["dtype"]) not in DTYPES:
        remedy = f"dtypes of suites: {', '.join(DTYPES)}"
        raise UsageError(f"case '{name}' is {dtype}", remedy=remedy)
    try:
        special = special_inputs(entry, shapes)
    except UsageError as err:
        raise UsageError(f"case '{name}': {err.message}", remedy=err.remedy) from err
    return Case(
        name=name,
        op=str(entry["op"]),
        expression=str(entry["expression"]),
        shapes=shapes,
        special=special,
        tokens=int(entry["seq_len"]),
        flops=int(entry["flops"]),
        min_bytes=int(entry["min_bytes"]),
        floor_us=float(entry["floor_us_h100"]),
        dtype=dtype,
    )


def _shape(sizes: list[Any]) -> tuple[int, ...]:
    if not all(type(size) is int for size in sizes):
        raise TypeError(f"no shape: {sizes}")
    return tuple(sizes)
