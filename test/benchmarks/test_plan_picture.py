# SPDX-License-Identifier: Apache-2.0
"""The picture of a model's plan is drawn deterministically."""

from pathlib import Path

import pytest
from needs import needs_nvrtc
from plan_picture import Repetition, draw, plan_of_model, readable, repetition
from tiny_models import SMALL, tiny_config


@pytest.mark.every_case
@needs_nvrtc
def test_a_tiny_model(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tiny_config("llama", **SMALL, num_hidden_layers=2).save_pretrained(tmp_path)
    plan = plan_of_model(str(tmp_path), 8, "float32", None)
    paths = [tmp_path / f"{number}.svg" for number in range(2)]
    for path in paths:
        draw(plan, "tiny", str(path))
    first, again = (path.read_text() for path in paths)
    assert first == again
    layers = repetition([launch.kernel for launch in plan.launches])
    assert layers.times == 2
    assert f">x{layers.times}<" in first
    assert f"tiny: {len(plan.launches)} launches" in first
    drawn = [launch.kernel for launch in plan.launches[: layers.start + layers.length]]
    for kernel in drawn:
        assert first.count(f">{kernel}<") >= drawn.count(kernel)


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        ("abcabcabcd", Repetition(0, 3, 3)),
        ("eababx", Repetition(1, 2, 2)),
        ("eaaaax", Repetition(1, 1, 4)),
        ("xabaabay", Repetition(1, 3, 2)),
        ("abc", Repetition(0, 3, 1)),
        ("", Repetition(0, 0, 1)),
    ],
)
def test_repeated_kernels_are_found(kernels: str, expected: Repetition) -> None:
    assert repetition(kernels) == expected


def test_sizes() -> None:
    sizes = (768, 1536, 14 * 1024, 2 * 2**30)
    assert [*map(readable, sizes)] == ["768 B", "1.5 KiB", "14 KiB", "2.0 GiB"]
