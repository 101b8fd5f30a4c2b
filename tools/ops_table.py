# SPDX-License-Identifier: Apache-2.0
"""
Table of ATen operators behind `tilewright ops` and `docs/ops.md`: the operators that the Torch
dialect defines, each with its arguments and an example, and the operators that are refused by name.

The table is read from the declarations of the ops, without torch.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrConstraint,
    OpDef,
    OperandDef,
    OptionalDef,
    OptOperandDef,
    PropertyDef,
    VarOperandDef,
)

from tilewright.dialects.torch import FAMILIES, OPS, ops_of
from tilewright.dialects.torch.op import TorchOp, python_value
from tilewright.errors import UsageError
from tilewright.frontend.unsupported import UNSUPPORTED, Refusal, refusal_named


@dataclass(frozen=True)
class Argument:
    """
    Argument of an operator's schema: `kind` is `Tensor`, `int[]?`, ..., `default` is Python text.
    """

    name: str
    kind: str
    default: str | None

    def __str__(self) -> str:
        tail = "" if self.default is None else f"={self.default}"
        return f"{self.kind} {self.name}{tail}"


@dataclass(frozen=True)
class Overload:
    """Overload of an ATen operator, which is one op of the Torch dialect."""

    aten: str
    """Name of the overload without `aten.`, as in `add.Tensor`."""
    op: str
    """Name of the op in the IR: `torch.add`."""
    arguments: tuple[Argument, ...]
    summary: str
    notes: str
    """Further paragraphs of the docstring, possibly empty."""
    example: str
    """Example of the op in the IR, on one line."""
    refusal: Refusal | None
    """Refusal of this overload for some arguments, or None."""

    @property
    def operator(self) -> str:
        """Name that all overloads of the operator share."""
        return self.aten.partition(".")[0]

    @property
    def signature(self) -> str:
        """Text of the schema: `add.Tensor(Tensor input, Tensor other, Scalar alpha=1)`."""
        return f"{self.aten}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Family:
    """Operators that are declared in one module of the dialect."""

    name: str
    summary: str
    overloads: tuple[Overload, ...]

    def operators(self) -> Mapping[str, list[Overload]]:
        """Return the overloads by operator."""
        found: dict[str, list[Overload]] = {}
        for overload in self.overloads:
            found.setdefault(overload.operator, []).append(overload)
        return found


# --- Supported operators


def families() -> list[Family]:
    """Return all families, in the order of the dialect."""
    return [_family(module) for module in FAMILIES]


def _family(module: ModuleType) -> Family:
    name = module.__name__.rpartition(".")[2].replace("_", " ")
    (summary, *_) = _paragraphs(module.__doc__)
    return Family(name, summary, tuple(map(overload_of, ops_of(module))))


def overload_of(op: type[TorchOp]) -> Overload:
    """Return the table's entry for an op, read from its declaration and docstring."""
    (summary, *notes, example) = _paragraphs(op.__doc__)
    return Overload(
        aten=op.ATEN,
        op=op.name,
        arguments=arguments_of(op),
        summary=summary,
        notes=" ".join(notes),
        example=example,
        refusal=_refusal_of(op.ATEN),
    )


def _paragraphs(doc: str | None) -> list[str]:
    """Return the paragraphs of a docstring, each on one line."""
    if doc is None:
        raise UsageError(
            "the table is read from docstrings, which Python drops with -OO",
            remedy="unset PYTHONOPTIMIZE",
        )
    return [" ".join(paragraph.split()) for paragraph in doc.split("\n\n")]


def _refusal_of(aten: str) -> Refusal | None:
    operator = aten.partition(".")[0]
    overload = aten if "." in aten else f"{aten}.default"
    return refusal_named(f"aten.{overload}", f"aten.{operator}")


_SAMPLES: Sequence[tuple[str, tuple[Attribute, ...]]] = (
    ("Scalar", (IntegerAttr(1, i64), FloatAttr(1.0, f64))),
    ("int", (IntegerAttr(1, i64),)),
    ("bool", (IntegerAttr(1, i1),)),
    ("float", (FloatAttr(1.0, f64),)),
    ("int[]", (DenseArrayBase.from_list(i64, [1]),)),
    ("float[]", (DenseArrayBase.from_list(f64, [1.0]),)),
    ("str", (StringAttr("none"),)),
    ("ScalarType", (f64,)),
)
"""
Attributes that are typical of each kind of argument, tried in order. An argument is of the first
kind whose attributes its property all accepts.
"""


def arguments_of(op: type[TorchOp]) -> tuple[Argument, ...]:
    """Return the arguments of an op, required arguments first."""
    definition = op.get_irdl_definition()
    operands = dict(definition.operands)
    found = {
        name: Argument(name, *_of_operand(name, d, definition)) for name, d in operands.items()
    }
    for name, prop in definition.properties.items():
        if name != "operandSegmentSizes" and name.removesuffix("_at") not in operands:
            found[name] = Argument(name, *_of_property(prop))
    fields = dict.fromkeys(name for base in reversed(op.mro()) for name in vars(base))
    declared = [found[name] for name in fields if name in found]
    return tuple(sorted(declared, key=lambda argument: argument.default is not None))


def _of_operand(name: str, operand: OperandDef, definition: OpDef) -> tuple[str, str | None]:
    if isinstance(operand, OptOperandDef):
        return "Tensor?", "None"
    if not isinstance(operand, VarOperandDef):
        return "Tensor", None
    return ("Tensor?[]" if f"{name}_at" in definition.properties else "Tensor[]"), None


def _of_property(prop: PropertyDef) -> tuple[str, str | None]:
    kind = _kind(prop.constr)
    if prop.default_value is not None:
        return kind, _shown(python_value(prop.default_value))
    return (f"{kind}?", "None") if isinstance(prop, OptionalDef) else (kind, None)


def _kind(constraint: AttrConstraint) -> str:
    return next(kind for kind, samples in _SAMPLES if all(map(constraint.verifies, samples)))


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(value)  # pyright: ignore


# --- Refused operators


@dataclass(frozen=True)
class Refused:
    """Operators that are refused for one reason; `*` in a name stands for any characters."""

    names: tuple[str, ...]
    refusal: Refusal

    @property
    def text(self) -> str:
        """Reason for the refusal, and what to do instead."""
        only = f"only {self.refusal.only}: " if self.refusal.only else ""
        return f"{only}{self.refusal.reason} ({self.refusal.remedy})"


def refusal_text(refusal: Refusal) -> str:
    """Return a line on an operator that is supported, but refused for some arguments."""
    return f"refused {refusal.only}: {refusal.reason} ({refusal.remedy})"


def refused() -> list[Refused]:
    """Return all refusals, in the order of their table."""
    names: dict[Refusal, list[str]] = {}
    for name, refusal in UNSUPPORTED.items():
        names.setdefault(refusal, []).append(name.removeprefix("aten."))
    return [Refused(tuple(found), refusal) for refusal, found in names.items()]


# --- Lookup


def find(name: str) -> tuple[list[Overload], list[Refused]]:
    """
    Return the overloads that are supported and the names that are refused under `name`.

    `softmax` finds all overloads of the operator, `softmax.int` one of them. A prefix `aten.` or
    `torch.` is ignored. An in-place operator such as `relu_` finds the operator without the
    underscore.
    """
    plain = _plain(name)
    names = f"aten.{plain}", f"aten.{plain.partition('.')[0]}", f"higher_order.{plain}"
    overloads = [overload_of(op) for op in OPS if plain in _names_of(op)]
    if overloads:
        parts = [n for n in UNSUPPORTED if n.startswith(f"{names[0]}.")]
        return overloads, [Refused((n.removeprefix("aten."),), UNSUPPORTED[n]) for n in parts]
    refusal = refusal_named(*names[:2]) or UNSUPPORTED.get(names[2])
    return [], [] if refusal is None else [Refused((plain,), refusal)]


def _names_of(op: type[TorchOp]) -> tuple[str, ...]:
    operator, _, overload = op.ATEN.partition(".")
    return f"{operator}.{overload or 'default'}", op.name.removeprefix("torch."), operator


def _plain(name: str) -> str:
    for prefix in ("aten.", "aten::", "torch."):
        name = name.removeprefix(prefix)
    operator, point, overload = name.partition(".")
    return (operator if operator.startswith("__") else operator.rstrip("_")) + point + overload


def near(name: str) -> list[str]:
    """Return up to three names in the table that are similar to `name`."""
    known = {name for op in OPS for name in (op.ATEN, op.ATEN.partition(".")[0])}
    known |= {name for group in refused() for name in group.names if "*" not in name}
    return difflib.get_close_matches(_plain(name), sorted(known), n=3)
