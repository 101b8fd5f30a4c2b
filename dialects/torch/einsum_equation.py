# SPDX-License-Identifier: Apache-2.0
"""
Equations of `torch.einsum`: the label of each dimension of the operands and of the result.

    "...ij,jk" of 5x2x3 and 3x4 is (...0, i, j) and (j, k) -> (...0, i, k)

The label of a dimension covered by an ellipsis is its distance from the ellipsis' end. Labels that
the result lacks are summed. Dimensions with the same label have the same size, or size 1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.utils.exceptions import VerifyException

Shape = tuple[int, ...]
Labels = tuple[str, ...]

_ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """A parsed equation: labels of the operands and of the result, and the size of each label."""

    operands: tuple[Labels, ...]
    result: Labels
    sizes: Mapping[str, int]

    @property
    def result_shape(self) -> Shape:
        """Shape of the result."""
        return tuple(self.sizes[label] for label in self.result)

    @property
    def sums(self) -> bool:
        """True if the result lacks any label, which is therefore summed."""
        return not {*self.sizes} <= {*self.result}


def parse_equation(text: str, shapes: Sequence[Shape]) -> Equation:
    """
    Parse and return the equation `text` for operands of `shapes`; raise `VerifyException` if it is
    invalid.
    """
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise VerifyException(
            f"the equation '{text}' is for {len(terms)} operand(s), not for {len(shapes)}"
        )
    operands = tuple(_operand_labels(t, shape) for t, shape in zip(terms, shapes, strict=True))
    covered = sorted({x for o in operands for x in o if x.startswith(_ELLIPSIS)}, reverse=True)
    result = _output_labels(output, covered) if arrow else _implicit_output(operands, covered)
    sizes = _sizes(operands, shapes)
    for label, count in Counter(result).items():
        if count > 1:
            raise VerifyException(f"'{label}' appears twice in the result of '{text}'")
        if label not in sizes:
            raise VerifyException(f"'{label}' of the result of '{text}' is in no operand")
    return Equation(operands, result, sizes)


def _parts(term: str) -> tuple[str, str, str]:
    """
    Return the letters before an ellipsis, the ellipsis if there is one, and the letters after it.
    """
    before, ellipsis, after = term.partition(_ELLIPSIS)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise VerifyException(
                f"'{letter}' in '{term}': dimensions are letters, with one '...' for all others"
            )
    return before, ellipsis, after


def _operand_labels(term: str, shape: Shape) -> Labels:
    before, ellipsis, after = _parts(term)
    covered = len(shape) - len(before) - len(after)
    if covered < 0 or (covered and not ellipsis):
        raise VerifyException(f"'{term}' is no operand of {len(shape)} dimension(s)")
    return (*before, *(f"{_ELLIPSIS}{i}" for i in reversed(range(covered))), *after)


def _output_labels(term: str, covered: Sequence[str]) -> Labels:
    before, ellipsis, after = _parts(term)
    return (*before, *(covered if ellipsis else ()), *after)


def _implicit_output(operands: Sequence[Labels], covered: Sequence[str]) -> Labels:
    """
    Return the result's labels without `->`: ellipsis labels, then letters that occur once, capitals
    first.
    """
    counts = Counter(label for labels in operands for label in labels if label not in covered)
    return (*covered, *sorted(label for label, count in counts.items() if count == 1))


def _sizes(operands: Sequence[Labels], shapes: Sequence[Shape]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        own: dict[str, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise VerifyException(f"'{label}' is both {own[label]} and {size} in one operand")
        for label, size in own.items():
            known = sizes.get(label, 1)
            if 1 not in (known, size) and known != size:
                raise VerifyException(
                    f"'{label}' is both {known} and {size}: they do not broadcast"
                )
            sizes[label] = size if known == 1 else known
    return sizes
