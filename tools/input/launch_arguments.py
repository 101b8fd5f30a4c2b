# SPDX-License-Identifier: Apache-2.0
"""
Arguments of a kernel as `tilewright sim --args` takes them, one item for each parameter.

    f32[64,32]=randn:0    array with values: zeros, ones, arange, randn:SEED, numbers, or FILE.npy
    f32[64,32]            array whose elements are not initialised
    i32=5                 number, passed by value
    x.npy                 array of a file
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import dtype_named
from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.poison import poisoned
from tilewright.codegen.simulator.kernel import Parameter
from tilewright.codegen.simulator.operands import TYPES
from tilewright.errors import UsageError, did_you_mean, summary_of
from tilewright.interpreters.memory import require_memory

Array = NDArray[Any]

DTYPES: Mapping[str, str] = {
    "bool": "bool",
    "bf16": "bfloat16",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
"""NumPy's dtype by the name of the type in an item."""

_NAMES: Mapping[str, str] = {dtype: name for name, dtype in DTYPES.items()}

_ITEM = re.compile(r"(?P<type>\w+)(?:\[(?P<sizes>[\d, ]*)\])?(?:=(?P<values>.+))?", re.DOTALL)
_SEEDED = re.compile(r"randn(?::(\d+))?")

_FILLED: Mapping[str, Callable[[int], Array]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "arange": np.arange,
}

_FORMS = "an item is TYPE[SIZES]=VALUES, TYPE[SIZES], TYPE=NUMBER or FILE.npy"


class LaunchArgument(NamedTuple):
    """Array or number with a dtype that is passed to a kernel; `text` is its item."""

    text: str
    value: Array | np.generic

    @property
    def type(self) -> str:
        """Type as an item names it: `f32[64,32]`, or `i32` for a number."""
        name = type_name(self.value.dtype)
        return f"{name}[{','.join(map(str, self.value.shape))}]" if self.is_array else name

    @property
    def is_array(self) -> bool:
        return isinstance(self.value, np.ndarray)


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name that items have for a dtype."""
    return _NAMES.get(dtype.name, dtype.name)


def launch_arguments(items: Sequence[str]) -> list[LaunchArgument]:
    """Return the arguments that items describe. Raises `UsageError` for the first wrong one."""
    return [_argument(number, item) for number, item in enumerate(items)]


def check_arguments(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[LaunchArgument]
) -> None:
    """Raise `UsageError` unless each parameter of a kernel has an argument of its type."""
    if len(parameters) != len(arguments):
        takes = ", ".join(map(_type_of, parameters)) or "none"
        raise UsageError(
            f"kernel '{kernel}' has {len(parameters)} parameters, and --args has {len(arguments)}",
            remedy=f"its parameters: {takes}",
        )
    for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if not _fits(parameter, argument):
            taken = _type_of(parameter)
            raise _wrong(number, argument.text, f"parameter {number} of '{kernel}' is {taken}")


def _type_of(parameter: Parameter) -> str:
    if parameter.length is not None:
        return f"a structure of {parameter.length} bytes, which cannot be passed"
    return "a pointer or 64-bit integer" if parameter.type in _POINTERS else f".{parameter.type}"


_POINTERS = ("u64", "b64", "s64")


def _fits(parameter: Parameter, argument: LaunchArgument) -> bool:
    """True if an argument has the size and kind, integer or float, of a parameter."""
    if parameter.length is not None or parameter.type not in TYPES:
        return False
    if argument.is_array:
        return parameter.type in _POINTERS
    dtype, wanted = argument.value.dtype, TYPES[parameter.type]
    is_kind = parameter.type.startswith("b") or (wanted.kind == "f") == (dtype.kind == "f")
    return is_kind and dtype.itemsize == wanted.itemsize


def _argument(number: int, item: str) -> LaunchArgument:
    try:
        return LaunchArgument(item, _value(item))
    except (ValueError, OverflowError) as err:
        raise _wrong(number, item, str(err)) from None


def _wrong(number: int, item: str, reason: str) -> UsageError:
    return UsageError(f"--args item {number}, '{item}': {reason}")


def _value(item: str) -> Array | np.generic:
    if item.endswith(".npy") and "=" not in item:
        return _loaded(item)
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ValueError(_FORMS)
    if match["type"] not in DTYPES:
        near = did_you_mean(match["type"], DTYPES) or f"known: {', '.join(DTYPES)}"
        raise ValueError(f"unknown type '{match['type']}' ({near})")
    dtype = dtype_named(DTYPES[match["type"]])
    if match["sizes"] is None:
        if match["values"] is None:
            raise ValueError(_FORMS)
        return _numbers(match["values"], dtype, 1)[0]
    if not match["sizes"].strip():
        raise ValueError("there is no size")
    shape = tuple(int(size) for size in match["sizes"].split(","))
    require_memory(prod(shape) * dtype.itemsize, f"the array {item}", "use smaller sizes")
    if match["values"] is None:
        return poisoned(ArrayType(shape, dtype))
    return _array(match["values"], dtype, shape)


def _array(values: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    if values.endswith(".npy"):
        loaded = _loaded(values)
        if loaded.shape != shape:
            raise ValueError(f"the file has the shape {[*loaded.shape]}")
        return loaded.astype(dtype)
    if filled := _FILLED.get(values):
        return filled(prod(shape)).astype(dtype).reshape(shape)
    if seeded := _SEEDED.fullmatch(values):
        if dtype.kind in "iub":
            raise ValueError("randn makes floats, use arange or numbers")
        random = np.random.default_rng(int(seeded[1] or 0))
        return random.standard_normal(shape).astype(dtype)
    numbers = _numbers(values, dtype, prod(shape))
    return np.ascontiguousarray(np.broadcast_to(numbers, prod(shape)).reshape(shape))


def _numbers(text: str, dtype: np.dtype[Any], count: int) -> Array:
    """Return the numbers of a list such as `1,2,3`, which has `count` of them or one for all."""
    words = [word.strip() for word in text.split(",")]
    if len(words) not in (1, count):
        raise ValueError(f"there are {len(words)} numbers for {count} elements")
    numbers = np.array([_number(word, dtype) for word in words])
    with np.errstate(over="ignore"):
        converted = numbers.astype(dtype)
    if dtype.kind not in "iub" and (np.isinf(converted) & ~np.isinf(numbers)).any():
        raise ValueError(f"{text} is too large for {type_name(dtype)}")
    return converted


def _number(word: str, dtype: np.dtype[Any]) -> int | float:
    if dtype.kind not in "iub":
        return _read(float, word)
    value = _read(lambda text: int(text, 0), word)
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not least <= value <= most:
        raise ValueError(f"{word} is not from {least} to {most}")
    return value


def _read(parse: Callable[[str], Any], word: str) -> Any:
    try:
        return parse(word)
    except ValueError:
        kind = "a number" if parse is float else "an integer"
        near = did_you_mean(word, [*_FILLED, "randn"])
        raise ValueError(f"'{word}' is not {kind}{f' ({near})' if near else ''}") from None


def _loaded(path: str) -> Array:
    """Return the array of an `.npy` file. Raises `UsageError` if it is none."""
    try:
        array: Any = np.load(path, allow_pickle=False)
    except OSError as err:
        raise UsageError(f"cannot read '{path}': {err.strerror or err}") from err
    except (ValueError, EOFError) as err:
        raise UsageError(f"'{path}' is no .npy file of numbers: {summary_of(err)}") from err
    kind: Any = getattr(array, "dtype", None)  # a zip of arrays has no dtype
    if kind is None or kind.name not in _NAMES:
        what = kind or "several arrays"
        raise UsageError(f"'{path}' holds {what}", remedy=f"known types: {', '.join(_NAMES)}")
    return np.array(array, kind.newbyteorder("="), order="C")
