# SPDX-License-Identifier: Apache-2.0
"""Writer for the text of random kernels."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from .elements import Array, Element, random


class Text:
    """Lines, inputs and outputs of a kernel that is being written."""

    def __init__(self, name: str):
        self.name = name
        self.lines: list[str] = []
        self.inputs: dict[str, tuple[tuple[int, ...], str]] = {}
        self.outputs: dict[str, tuple[tuple[int, ...], str]] = {}
        self._count = 0

    def type(self, array: str) -> str:
        """Return the memref type of an input or output."""
        return memref(*({**self.inputs, **self.outputs}[array]))

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append(text)

    def let(self, text: str) -> str:
        """Append an op with one result; return the new name of the result."""
        self._count += 1
        name = f"%v{self._count}"
        self.line(f"{name} = {text}")
        return name

    def fresh(self, stem: str) -> str:
        """Return a new name."""
        self._count += 1
        return f"%{stem}{self._count}"

    @contextmanager
    def region(self, header: str, footer: str = "") -> Generator[None]:
        """Put the lines that the `with` block writes into a region of the op `header`."""
        self.line(f"{header} {{")
        yield
        self.line(f"}}{footer}")

    def load(self, array: str, subscripts: Sequence[str], masks: Sequence[str] = ()) -> str:
        """Append the load of an element of an input or output; return its name."""
        subs = ", ".join(subscripts)
        return self.let(f"loop.load {array}[{subs}]{where(masks)} : {self.type(array)}")

    def store(
        self, value: str, array: str, subscripts: Sequence[str], masks: Sequence[str] = ()
    ) -> None:
        """Append the store of an element of an output."""
        subs = ", ".join(subscripts)
        self.line(f"loop.store {value}, {array}[{subs}]{where(masks)} : {self.type(array)}")

    def constant(self, value: float, type: str) -> str:
        """Append a constant; return its name."""
        text = f"{float(value):e}" if type.startswith("f") else str(int(value))
        return self.let(f"arith.constant {text} : {type}")

    def binary(self, op: str, a: str, b: str, type: str) -> str:
        """
        Append `op` (such as `add`, `sub`, `mul`, `div`, `max`) on integers or floats; return its
        name.
        """
        names = {"max": "arith.maximumf"} if type.startswith("f") else {"max": "arith.maxsi"}
        letter = "f" if type.startswith("f") else "i"
        return self.let(f"{names.get(op, f'arith.{op}{letter}')} {a}, {b} : {type}")

    def widened(self, value: str, element: Element) -> str:
        """
        Append the cast of a stored value to the computed type, if they differ; return its name.
        """
        if not element.widen:
            return value
        return self.let(f"{element.widen} {value} : {element.stored} to {element.computed}")

    def narrowed(self, value: str, element: Element) -> str:
        """
        Append the cast of a computed value to the stored type, if they differ; return its name.
        """
        if not element.narrow:
            return value
        return self.let(f"{element.narrow} {value} : {element.computed} to {element.stored}")

    def kernel(self) -> str:
        """Return the text of the kernel."""
        arguments = [
            ", ".join(f"{name}: {memref(*type)}" for name, type in arrays.items())
            for arrays in (self.inputs, self.outputs)
        ]
        header = f"loop.kernel @{self.name}({arguments[0]}) -> ({arguments[1]}) {{"
        return "\n".join([header, *_indented(self.lines), "}"])

    def values(self, seed: int) -> list[Array]:
        """Return random inputs: standard normal floats, and integers from -4 to 4."""
        generator = np.random.default_rng(seed)
        return [random(generator, *type) for type in self.inputs.values()]


def _indented(lines: Sequence[str]) -> Iterator[str]:
    depth = 1
    for line in lines:
        depth -= line.startswith("}")
        yield "  " * depth + line
        depth += line.endswith("{")


def memref(shape: Sequence[int], element: str, layout: str = "", space: str = "") -> str:
    """Return the text of a memref type."""
    return f"memref<{''.join(f'{size}x' for size in shape)}{element}{layout}{space}>"


def where(masks: Sequence[str]) -> str:
    """Return the text of a mask."""
    return f" where [{', '.join(masks)}]" if masks else ""
