# SPDX-License-Identifier: Apache-2.0
"""Memory of the machine, as limited by containers: all callers get the same answer."""

from pathlib import Path

import pytest

from tilewright import machine_memory
from tilewright.machine_memory import available_memory, total_memory

MIB = 1 << 20


def test_memory_of_the_machine():
    total, available = total_memory(), available_memory()
    assert total is None or total > MIB
    assert available is None or total is None or 0 < available <= total


@pytest.mark.parametrize("version", [0, 1])
def test_a_container_bounds_memory(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, limit, usage = machine_memory.GROUPS[version]
    (tmp_path / limit).write_text(f"{64 * MIB}\n")
    (tmp_path / usage).write_text(f"{60 * MIB}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {10 * MIB}\n")
    monkeypatch.setattr(machine_memory, "GROUPS", ((str(tmp_path), limit, usage),))
    assert (total_memory(), available_memory()) == (64 * MIB, 14 * MIB)


def test_a_container_without_a_limit_is_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_memory, "GROUPS", ())
    machine = total_memory()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("5\n")
    groups = ((str(tmp_path), "memory.max", "memory.current"),)
    monkeypatch.setattr(machine_memory, "GROUPS", groups)
    assert total_memory() == machine
