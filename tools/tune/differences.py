# SPDX-License-Identifier: Apache-2.0
"""
Differences between a schedule and another one, in a line:

    register-tile fm=8 (4) fn=8 (4), with tma-copy, without pad-smem
"""

from collections.abc import Iterator

from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects.schedule import parse_spec_list, spec_text
from tilewright.passes.driver.pipeline_string import parameters_by_pass, text_of

Parameters = dict[str, ParameterListType]


def differences(schedule: str, default: str) -> str:
    """Return the differences of `schedule` from `default`; empty if there are none."""
    ours = {spec.name: spec for spec in parse_spec_list(schedule)}
    theirs = parameters_by_pass(default)
    found: list[str] = []
    for name, spec in ours.items():
        if name not in theirs:
            found.append(f"with {spec_text(spec)}")
        elif changes := " ".join(_changes(spec.parameters, theirs[name])):
            found.append(f"{name} {changes}")
    found += [f"without {name}" for name in theirs if name not in ours]
    return ", ".join(found)


def _changes(ours: Parameters, theirs: Parameters) -> Iterator[str]:
    """Yield the options with different values, with the default's value in brackets."""
    for option in dict.fromkeys([*ours, *theirs]):
        mine, its = ours.get(option), theirs.get(option)
        if mine != its:
            yield f"{option}={_text(mine)} ({_text(its)})"


def _text(value: ParameterListType | None) -> str:
    if value is None:
        return "none"
    return ",".join(map(text_of, value)) or "true"
