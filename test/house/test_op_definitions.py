# SPDX-License-Identifier: Apache-2.0
"""
Every field that an operation's class body declares is part of its definition.

xDSL silently drops a field with the name of a member of `Operation` (`regions`, `next_op`, `walk`,
...). A field `location` would shadow the location of the operation.
"""

import ast
import inspect
import sys
from functools import cache
from types import ModuleType

import pytest
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, region_def

from tilewright.dialects import get_all_dialects

DIALECTS = get_all_dialects()
KINDS = ("operand_def", "result_def", "prop_def", "attr_def", "region_def", "successor_def")


@cache
def class_bodies(module: ModuleType) -> dict[str, ast.ClassDef]:
    """Return the class definitions of a module by name."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def declared(body: ast.ClassDef) -> set[str]:
    """Return the names that are assigned a `*_def(...)` of an operation's parts."""
    found = set[str]()
    for node in body.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id=kind))):
                pass
            case _:
                continue
        if kind.endswith(KINDS):
            found.add(name)
    return found


def lost_fields(op: type[IRDLOperation]) -> set[str]:
    """Return the fields that `op` or a base of it declares and its definition lacks."""
    expected = set[str]()
    for base in op.__mro__:
        if base.__module__.startswith(("tilewright.", __name__)):
            bodies = class_bodies(sys.modules[base.__module__])
            expected |= declared(bodies[base.__name__]) if base.__name__ in bodies else set()
    definition = op.get_irdl_definition()
    parts = [definition.operands, definition.results, definition.regions, definition.successors]
    known = {name for part in parts for name, _ in part} | definition.accessor_names.keys()
    known |= definition.properties.keys() | definition.attributes.keys()
    return expected - known | ({"location"} & expected)


@pytest.mark.parametrize("name", DIALECTS)
def test_no_field_is_lost(name: str):
    operations = [op for op in DIALECTS[name]().operations if issubclass(op, IRDLOperation)]
    assert {op.name: lost for op in operations if (lost := lost_fields(op))} == {}


@irdl_op_definition
class CarelessOp(IRDLOperation):
    """Op with a region that its definition lacks."""

    name = "careless.op"
    kept = operand_def()
    renamed = opt_prop_def(prop_name="other")
    regions = region_def()  # pyright: ignore


def test_a_lost_field_is_found():
    assert lost_fields(CarelessOp) == {"regions"}
