# SPDX-License-Identifier: Apache-2.0
"""
One call of a captured function: from the user's arguments to tensors for the program, and from its
results back.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from tilewright.arrays import as_array, tensor_of
from tilewright.errors import UsageError, one_line
from tilewright.frontend.arguments import check_tensor, check_values, is_plain
from tilewright.frontend.aten import dtype_name
from tilewright.frontend.baked_facts import answer, baked_facts
from tilewright.frontend.capture import Captured
from tilewright.frontend.in_place_writes import check_writable, write_back


class Call:
    """
    Arguments of one call, checked against those of the capture.

    Tensors may be PyTorch's or NumPy's; shapes and dtypes must equal the captured ones. Python
    values are baked in, and must be equal too. Inputs that the program writes in place must be
    writable. Raises `UsageError` otherwise.
    """

    def __init__(self, captured: Captured, args: tuple[Any, ...], kwargs: Mapping[str, Any]):
        self._captured = captured
        plain = None if kwargs else _plain_leaves(captured, args)
        self._is_plain = plain is not None
        self._given = _matched_leaves(captured, args, kwargs) if plain is None else plain
        given = iter(self._given)
        self._tensors = {
            i.node: next(given) if i.kind == "input" else i.tensor for i in captured.inputs
        }
        check_writable(captured, list(self._tensors.values()))

    def values(self) -> list[Any]:
        """
        Return tensors or arrays for `captured.inputs`: the call's arguments, and the module's own
        tensors. Raises `UsageError` for a tensor without values.
        """
        values = list(self._tensors.values())
        for input, value in zip(self._captured.inputs, values, strict=True):
            if not is_plain(value):
                check_values(repr(input.name), value)
        return values

    def results(self, values: Sequence[Any]) -> Any:
        """
        Write back what the program writes in place, and return the results of the user's function.

        `values` are the program's results, as tensors or arrays. The returned results are arrays if
        there are inputs and all of them are arrays, else tensors.
        """
        import torch

        write_back(self._captured, list(self._tensors.values()), values)
        if self._is_plain and (nest := self._captured.plain_results) is not None:
            device = self._given[0].device if self._given else torch.device("cpu")
            returned = values[len(self._captured.mutated) :]
            return nest([tensor_of(value).to(device) for value in returned])
        tensors = [leaf for leaf in self._given if isinstance(leaf, torch.Tensor)]
        if self._given and not tensors:
            return self._captured.unflatten([as_array(value) for value in values])
        device = tensors[0].device if tensors else torch.device("cpu")
        return self._captured.unflatten([tensor_of(value).to(device) for value in values])


def _plain_leaves(captured: Captured, args: tuple[Any, ...]) -> list[Any] | None:
    """
    Return the arguments if all are positional tensors that match the captured ones; None otherwise.
    This is a fast path for most calls.
    """
    expected = captured.plain_inputs
    if expected is None or len(args) != len(expected):
        return None
    for value, (shape, dtype) in zip(args, expected, strict=True):
        if not is_plain(value) or value.shape != shape or value.dtype is not dtype:
            return None
    for fact in baked_facts(captured.exported):
        if any(map(partial(_differ, fact), captured.exported.example_inputs[0], args)):
            return None
    return [*args]


def _differ(fact: str, like: Any, value: Any) -> bool:
    return answer(fact, like) != answer(fact, value)


def _matched_leaves(
    captured: Captured, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """
    Return the tensors and arrays among the arguments, flat. Raises `UsageError` if an argument does
    not match the captured one.
    """
    import torch
    from torch.utils import _pytree as pytree

    example = captured.exported.example_inputs
    order = [name for name in example[1] if name in kwargs]
    named = {name: kwargs[name] for name in [*order, *(n for n in kwargs if n not in order)]}
    expected, structure = captured.example
    # `tree_unflatten` makes a torch.Size a tuple, as in the example.
    rebuilt = pytree.tree_unflatten(*pytree.tree_flatten((args, named)))
    given, found = pytree.tree_flatten(_in_order(rebuilt, example))
    if found != structure:
        was, now = (_shown(a, k) for a, k in (example, (args, kwargs)))
        raise UsageError(f"the program was compiled for the arguments {was}, not {now}")
    facts = baked_facts(captured.exported)
    for (path, like), value in zip(expected, given, strict=True):
        _check_leaf(pytree.keystr(path[1:]), like, value)
        if isinstance(like, torch.Tensor):
            _check_facts(pytree.keystr(path[1:]), facts, like, value)
    matched = zip(expected, given, strict=True)
    return [value for (_, like), value in matched if isinstance(like, torch.Tensor)]


def _in_order(value: Any, like: Any) -> Any:
    """
    Return `value` with the keys of its dictionaries, nested ones too, in the order that they have
    in `like`.
    """
    if type(value) is not type(like) or type(value) not in (dict, list, tuple):
        return value
    if isinstance(value, dict):
        items, others = cast(dict[Any, Any], value), cast(dict[Any, Any], like)
        if items.keys() != others.keys():
            return items
        return {key: _in_order(items[key], other) for key, other in others.items()}
    pairs = zip(cast(Sequence[Any], value), cast(Sequence[Any], like), strict=False)
    ordered = [_in_order(item, other) for item, other in pairs]
    return value if len(value) != len(like) else type(value)(ordered)


def _shown(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return the types of arguments for a message: `(Tensor, [Tensor, int], k=float)`."""
    named = (f"{name}={_type_name(value)}" for name, value in kwargs.items())
    return f"({', '.join([*map(_type_name, args), *named])})"


def _type_name(value: Any) -> str:
    if type(value) is list:
        return f"[{_listed(cast(list[Any], value))}]"
    if type(value) is tuple:
        return f"({_listed(cast(tuple[Any, ...], value))})"
    if type(value) is dict:
        items = cast(dict[Any, Any], value).items()
        return f"{{{', '.join(f'{key!r}: {_type_name(item)}' for key, item in items)}}}"
    return type(value).__name__


_MOST_SHOWN = 8
"""
Length up to which messages show a list in full. Of a longer list, they show the first three items.
"""


def _listed(items: Sequence[Any]) -> str:
    if len(items) <= _MOST_SHOWN:
        return ", ".join(map(_type_name, items))
    return ", ".join([*map(_type_name, items[:3]), "..."])


def _check_leaf(place: str, like: Any, value: Any) -> None:
    import numpy as np
    import torch

    if not isinstance(like, torch.Tensor):
        if not _is_same(value, like):
            was, now = _shortened(like), _shortened(value)
            raise UsageError(f"argument {place} is baked in as {was}, and cannot be {now}")
        return
    if not isinstance(value, torch.Tensor | np.ndarray):
        raise UsageError(f"argument {place} must be a tensor or array, not {type(value).__name__}")
    if isinstance(value, torch.Tensor):
        check_tensor(f"argument {place}", value)
    expected, found = _kind(like), _kind(value)
    if expected != found:
        message = f"argument {place} is {found}, but the program was compiled for {expected}"
        raise UsageError(message)


def _check_facts(place: str, facts: Sequence[str], like: Any, value: Any) -> None:
    """
    Raise `UsageError` if one of the `facts` that the program reads differs between `value` and the
    captured input `like`.
    """
    for fact in facts:
        if _differ(fact, like, value):
            raise UsageError(
                f"argument {place} has {fact} {answer(fact, value)}, but the program reads that, "
                f"and was compiled for {answer(fact, like)}",
                remedy="compile the program for each value",
            )


_MOST_CHARACTERS = 80
"""Number of characters of a value's text that messages show."""


def _shortened(value: Any) -> str:
    """Return the text of a value on one line, cut after `_MOST_CHARACTERS`."""
    text = one_line(repr(value))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _is_same(value: Any, like: Any) -> bool:
    """
    True if a program computes the same results with both Python values.

    Types must be equal: results for 1, 1.0 and True have different dtypes. 0.0 and -0.0 differ as
    divisors. NumPy's float64 counts as a Python float, and two NaN are equal.
    """
    if isinstance(value, float) and isinstance(like, float):
        return float(value).hex() == float(like).hex()
    return type(value) is type(like) and (value is like or bool(value == like))


def _kind(tensor: Any) -> str:
    return f"{dtype_name(tensor.dtype)}{list(tensor.shape)}"
