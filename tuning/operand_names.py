# SPDX-License-Identifier: Apache-2.0
"""
Translation of schedules between the names of a kernel's inputs and canonical names.

    stage-inputs{raw=t2 computed=x},pad-smem{pad=4 slabs=t2s}      of %x and %t2

is stored, for all kernels that are equal up to names, as

    stage-inputs{raw=arg1 computed=arg0},pad-smem{pad=4 slabs=arg1s}

Operands have the names of the inputs that they are loaded from. Slabs add an `s`, and a second slab
of the same name adds `-1`. Other names stay as they are. A text that is not a pipeline also stays
as it is, and causes an error when it is used.
"""

import re
from collections.abc import Mapping, Sequence

from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects.schedule import ScheduleAttr, parse_spec_list
from tilewright.errors import UsageError
from tilewright.passes.scheduling_steps import step_named
from tilewright.tuning.key import CANONICAL

_NUMBERED = re.compile(r"(.+?)(-\d+)?")


def canonical_names(names: Sequence[str]) -> list[str]:
    """Return `arg0`, `arg1`, ...; inputs with equal names share the canonical name of the first."""
    return [f"{CANONICAL}{names.index(name) if name else at}" for at, name in enumerate(names)]


def to_canonical(schedule: str, names: Sequence[str]) -> str:
    """Return the stored form of a schedule of a kernel whose inputs have these names."""
    return _renamed(schedule, dict(zip(names, canonical_names(names), strict=True)))


def from_canonical(schedule: str, names: Sequence[str]) -> str:
    """Return a stored schedule for a kernel whose inputs have these names."""
    return _renamed(schedule, dict(zip(canonical_names(names), names, strict=True)))


def _renamed(schedule: str, names: Mapping[str, str]) -> str:
    """Rename operands and slabs in a schedule. Inputs without a name stay canonical."""
    operands = {old: new for old, new in names.items() if old and new}
    slabs = {f"{old}s": f"{new}s" for old, new in operands.items()}
    try:
        specs = [_with_names(spec, operands, slabs) for spec in parse_spec_list(schedule)]
    except UsageError:
        return schedule
    return ScheduleAttr.of(specs).data


def _with_names(spec: ArgSpec, operands: Mapping[str, str], slabs: Mapping[str, str]) -> ArgSpec:
    if (step := step_named(spec.name)) is None:
        return spec
    spec = spec.normalize_parameter_names()
    tables = {**dict.fromkeys(step.operands, operands), **dict.fromkeys(step.slabs, slabs)}
    parameters: dict[str, ParameterListType] = {
        option: tuple(_name(value, tables[option]) for value in values)
        if option in tables
        else values
        for option, values in spec.parameters.items()
    }
    return ArgSpec(spec.name, parameters)


def _name(value: str | int | bool | float, names: Mapping[str, str]) -> str | int | bool | float:
    if not isinstance(value, str):
        return value
    if value in names:
        return names[value]
    numbered = _NUMBERED.fullmatch(value)
    if numbered is None or numbered[1] not in names:
        return value
    return names[numbered[1]] + (numbered[2] or "")
