# SPDX-License-Identifier: Apache-2.0
"""
Faster handling of composite operators in PyTorch: list them once, and override only those that a
program needs.

`run_decompositions` of PyTorch 2.13 asks the dispatcher for all composite operators some fifty
times. Then it overrides five hundred operators for each of two dozen dispatch keys. Nearly all
overrides equal PyTorch's own behaviour, and nearly all keys are those of absent devices. Each of
the two steps takes longer than the rest of `run_decompositions`.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from tilewright.frontend.replaced import replaced


@contextmanager
def faster_composite_ops() -> Generator[None]:
    """
    Make PyTorch handle composite operators faster within the `with` block, where it has the
    functions that are replaced.
    """
    from torch._export import utils
    from torch.export import exported_program

    quicker: Sequence[tuple[Any, str, Callable[[Any], Any]]] = (
        # The operators do not change while one program is broken down; a later program lists them
        # anew.
        (utils, "_materialize_cpp_cia_ops", cache),
        (utils, "_collect_all_valid_cia_ops_for_namespace", cache),
        (exported_program, "_split_decomp_table_to_cia_and_python_decomp", _cached_split),
        (exported_program, "_override_composite_implicit_decomp", _changed_only),
        (exported_program, "_AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE", _for_devices),
        (exported_program, "_BACKEND_KEYS_TO_OVERRIDE", _for_devices),
    )
    with ExitStack() as changes:
        for module, name, wrap in quicker:
            changes.enter_context(replaced(module, name, wrap))
        yield


def defined_by_libraries() -> frozenset[Any]:
    """
    Return the composite operators that are not ATen's. The set changes when a library defines
    operators, or removes its own.
    """
    import torch

    dispatcher: Any = import_module("torch._C")
    names = dispatcher._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    places = [name.partition(".")[0].split("::") for name in names]
    return frozenset(
        getattr(getattr(torch.ops, library), operator)
        for library, operator in places
        if library != "aten"
    )


def _cached_split(split: Callable[[Any], Any]) -> Callable[[Mapping[Any, Any]], Any]:
    """
    Return a function that calls `split`, which splits a decomposition table in two, and caches the
    results for the last eight tables.
    """
    return lambda table: tuple(dict(part) for part in _parts(tuple(table.items()), split))


@lru_cache(maxsize=8)
def _parts(table: tuple[tuple[Any, Any], ...], split: Callable[[Any], Any]) -> Any:
    return split(dict(table))


def _changed_only(override: Callable[[Any], Any]) -> Callable[[Mapping[Any, Any]], Any]:
    """
    Return a function that calls `override`, which sets how operators are broken down, only with
    entries that change something.
    """
    return lambda table: override({op: how for op, how in table.items() if not _is_own(op, how)})


def _is_own(op: Any, how: Any) -> bool:
    """
    True if the decomposition `how` of an operator is the kernel that PyTorch's dispatcher already
    has for it.
    """
    return (
        isinstance(how, partial)
        and how.func.__name__ == "_special_op_to_decompose_cia"
        and how.keywords == {"kernel": op}
    )


def _for_devices(keys: Sequence[Any]) -> list[Any]:
    """
    Return those of the dispatch keys that belong to devices that a program's tensors can be on.
    """
    import torch

    there = torch.accelerator.current_accelerator()
    devices = {"CPU", "CUDA", "Meta", "" if there is None else there.type.upper()}
    return [key for key in keys if key.name.removeprefix("Autograd") in devices]
