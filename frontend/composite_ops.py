# SPDX-License-Identifier: Apache-2.0
"""
PyTorch lists its composite operators once, and touches only those that matter to a program.

`run_decompositions` of PyTorch 2.13 asks the dispatcher for all of them some fifty times. Then it
gives five hundred an implementation for each of two dozen dispatch keys, although nearly all are to
be broken down as PyTorch does anyway, and nearly all keys are those of devices that are not there.
Each of the two takes longer than all else that it does.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from tilewright.frontend.replaced import replaced


@contextmanager
def handled_quickly() -> Generator[None]:
    """Within, PyTorch handles composite operators so, where it has the functions that do."""
    from torch._export import utils
    from torch.export import exported_program

    quicker: Sequence[tuple[Any, str, Callable[[Any], Any]]] = (
        # What one program needs does not change while it is broken down; a later one lists anew.
        (utils, "_materialize_cpp_cia_ops", cache),
        (utils, "_collect_all_valid_cia_ops_for_namespace", cache),
        (exported_program, "_split_decomp_table_to_cia_and_python_decomp", _remembered),
        (exported_program, "_override_composite_implicit_decomp", _of_those_changed),
        (exported_program, "_AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE", _of_devices),
        (exported_program, "_BACKEND_KEYS_TO_OVERRIDE", _of_devices),
    )
    with ExitStack() as changes:
        for module, name, wrap in quicker:
            changes.enter_context(replaced(module, name, wrap))
        yield


def defined_by_libraries() -> frozenset[Any]:
    """
    Return the composite operators that there are beside ATen's: a library may define more, or end
    with all of its own.
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


def _remembered(split: Callable[[Any], Any]) -> Callable[[Mapping[Any, Any]], Any]:
    """`split`, which parts a table, without doing so again for one that was just parted."""
    return lambda table: tuple(dict(part) for part in _parts(tuple(table.items()), split))


@lru_cache(maxsize=8)
def _parts(table: tuple[tuple[Any, Any], ...], split: Callable[[Any], Any]) -> Any:
    return split(dict(table))


def _of_those_changed(override: Callable[[Any], Any]) -> Callable[[Mapping[Any, Any]], Any]:
    """`override`, which says how operators are broken down, without what is so already."""
    return lambda table: override({op: how for op, how in table.items() if not _is_own(op, how)})


def _is_own(op: Any, how: Any) -> bool:
    """True if `how` an operator is broken down is the kernel that the dispatcher has for it."""
    return (
        isinstance(how, partial)
        and how.func.__name__ == "_special_op_to_decompose_cia"
        and how.keywords == {"kernel": op}
    )


def _of_devices(keys: Sequence[Any]) -> list[Any]:
    """Return the dispatch keys of devices that a program's tensors can be on."""
    import torch

    there = torch.accelerator.current_accelerator()
    devices = {"CPU", "CUDA", "Meta", "" if there is None else there.type.upper()}
    return [key for key in keys if key.name.removeprefix("Autograd") in devices]
