# SPDX-License-Identifier: Apache-2.0
"""
What a schedule does otherwise than another, in a line:

    register-tile fm=8 (4) fn=8 (4), with tma-copy, without pad-smem
"""

from collections.abc import Iterator

from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects.schedule import parse_spec_list, spec_text
from tilewright.passes.driver.pipeline_string import parameters_by_pass, text_of

Parameters = dict[str, ParameterListType]


def differences(schedule: str, default: str) -> str:
    """What `schedule` does otherwise; empty where that is nothing."""
    ours = {spec.name: spec for spec in parse_spec_list(schedule)}
    theirs = parameters_by_pass(default)
    said: list[str] = []
    for name, spec in ours.items():
        if name not in theirs:
            said.append(f"with {spec_text(spec)}")
        elif changes := " ".join(_changes(spec.parameters, theirs[name])):
            said.append(f"{name} {changes}")
    said += [f"without {name}" for name in theirs if name not in ours]
    return ", ".join(said)


def _changes(ours: Parameters, theirs: Parameters) -> Iterator[str]:
    """Options with other values, and in brackets what the default has."""
    for option in dict.fromkeys([*ours, *theirs]):
        mine, its = ours.get(option), theirs.get(option)
        if mine != its:
            yield f"{option}={_text(mine)} ({_text(its)})"


def _text(value: ParameterListType | None) -> str:
    if value is None:
        return "none"
    return ",".join(map(text_of, value)) or "true"
