# SPDX-License-Identifier: Apache-2.0
"""
The spelling of a schedule: `tileify,chunk-matmul-k{bk=16},blockify-launch{m=128 n=128}`.

`parse_pipeline` parses the text into pass objects; `str(pass)` prints them. MLIR's spelling
`builtin.module(a,b)` is accepted too. Every mistake is a `UsageError` that names it.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, ParameterListType, ParameterType
from xdsl.utils.hints import isa, type_repr

from tilewright.dialects.schedule import parse_spec_list
from tilewright.errors import UsageError, did_you_mean

Configured = TypeVar("Configured", bound=ArgSpecConvertible)

_VALUE_WORDS = {
    bool: ("true or false", "true"),
    int: ("an integer", "64"),
    float: ("a number", "0.5"),
    str: ("a word", "a"),
}
"""Description of one value of an option, with an example, by its type."""

_LIST_WORDS = {
    bool: ("a list of true and false", "true,false"),
    int: ("a list of integers", "64,32"),
    float: ("a list of numbers", "0.5,2"),
    str: ("a list of words", "a,b"),
}
"""Description of a list of values of an option, with an example, by their type."""


def parse_pipeline(
    text: str, available: Mapping[str, Callable[[], type[ModulePass]]]
) -> tuple[ModulePass, ...]:
    """
    Return the passes that `text` spells. Raises `UsageError` if one is not in `available`.
    """
    specs = parse_spec_list(text)
    for spec in specs:
        if spec.name not in available:
            remedy = did_you_mean(spec.name, available) or "opt-tool --help lists them"
            raise UsageError(f"unknown pass '{spec.name}'", remedy=remedy)
    return tuple(configure(available[spec.name](), spec, "pass") for spec in specs)


def parameters_by_pass(text: str) -> dict[str, dict[str, ParameterListType]]:
    """
    Return the options of each pass that `text` spells; for a repeated pass, those of the last one.
    """
    return {spec.name: spec.parameters for spec in parse_spec_list(text)}


def configure(kind: type[Configured], spec: ArgSpec, what: str) -> Configured:
    """
    Create a `kind` with the options of `spec`; `what` (pass, target) names its category in errors.
    """
    hints = _type_hints(kind)
    names = [field.name for field in fields(kind) if field.init]
    given = spec.normalize_parameter_names().parameters
    label = f"{what} '{spec.name}'"
    for name in given:
        if name not in names:
            remedy = did_you_mean(name, names) or f"it has: {', '.join(names) or 'none'}"
            raise UsageError(f"{label} has no option '{name}'", remedy=remedy)
    for name in sorted(kind.required_fields() - given.keys()):
        raise UsageError(f"{label} needs the option '{name}'")
    options = {name: _coerced(value, hints[name], name, label) for name, value in given.items()}
    try:
        return kind(**{name: _option(value, hints[name]) for name, value in options.items()})
    except ValueError as err:
        raise UsageError(f"{label}: {err}") from err


def text_of(value: object) -> str:
    """Return a value of an option as pipelines spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache
def _type_hints(kind: type[Any]) -> Mapping[str, Any]:
    """Return the types of the options of a pass or target; cached, because finding them is slow."""
    return get_type_hints(kind)


def _coerced(value: ParameterListType, hint: Any, name: str, label: str) -> ParameterListType:
    """
    Convert `value` to the type of its option: a bare flag is true, and an integer is a float too.
    """
    kinds = get_args(hint) or (hint,)
    if not value and bool in kinds:
        return (True,)
    if float in kinds and int not in kinds:
        value = tuple(map(_as_float, value))
    fits = isa(value, hint) or (len(value) == 1 and isa(value[0], hint))
    absent = not value and type(None) in kinds
    stray = bool not in kinds and any(isinstance(v, bool) for v in value)  # true is an int too
    if absent or (fits and not stray):
        return value
    shown = ",".join(map(text_of, value)) or "nothing"
    words, example = _expected(hint)
    message = f"{label}: option '{name}' expects {words}, not '{shown}'"
    raise UsageError(message, remedy=f"e.g. {name}={example}")


def _option(value: ParameterListType, hint: Any) -> ParameterListType | ParameterType | None:
    """
    Return the field value for `value`: None, a single value, or a tuple, as the type `hint`
    requires.
    """
    if not value and type(None) in get_args(hint):
        return None
    return value[0] if len(value) == 1 and isa(value[0], hint) else value


def _as_float(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    try:
        return float(value)
    except ValueError:
        return value


def _expected(hint: Any) -> tuple[str, str]:
    """
    Return a description of the values of an option of the type `hint` (`a list of integers`), and
    an example of one.
    """
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    if get_origin(hint) in (tuple, Literal):
        kinds = [hint]
    described = [_described(kind) for kind in kinds]
    return " or ".join(words for words, _ in described), described[0][1]


def _described(kind: Any) -> tuple[str, str]:
    values = get_args(kind)
    if get_origin(kind) is Literal:
        return " or ".join(map(str, values)), str(values[0])
    if get_origin(kind) is tuple:
        return _LIST_WORDS.get(values[0], ("a list", "a,b"))
    return _VALUE_WORDS.get(kind, (type_repr(kind), "..."))
