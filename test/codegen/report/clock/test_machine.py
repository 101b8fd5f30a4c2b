# SPDX-License-Identifier: Apache-2.0
"""Tables of the clock: each target has one or names the nearest; devices agree with targets."""

import pytest

from tilewright.codegen.report.clock.machine import (
    DEVICES,
    device_named,
    device_of,
    machine_of,
    note_on,
)
from tilewright.dialects.target import TARGETS, target


@pytest.mark.parametrize("name", TARGETS)
def test_a_multiply_add_takes_as_long_as_the_lanes_of_the_target_say(name: str):
    gpu = target(name)
    assert machine_of(gpu).fma == 128 / gpu.fp32_lanes


def test_a_target_without_a_table_has_a_note():
    assert {name for name in TARGETS if note_on(target(name))} == {"sm_89", "sm_100a"}
    assert note_on(target("sm_89")) == "the clock has no table of sm_89; it uses the one of sm_86"


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_is_similar_to_its_target(name: str):
    device = device_named(name)
    typical = device_of(target(device.target))
    assert device.sms == pytest.approx(typical.sms, rel=0.2)
    assert device.hertz == pytest.approx(typical.hertz, rel=0.15)
    assert device.l2_clock_bytes == pytest.approx(typical.l2_clock_bytes, rel=0.01)
