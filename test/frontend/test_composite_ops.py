# SPDX-License-Identifier: Apache-2.0
"""PyTorch's composite operators are listed once, and few are overridden; none is missed."""

from collections.abc import Callable, Generator
from importlib import import_module
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tilewright.dialects.torch.elementary import TanhOp
from tilewright.frontend.aten import decompositions
from tilewright.frontend.capture import capture
from tilewright.frontend.composite_ops import faster_composite_ops

Library = Callable[[str], Any]


@pytest.fixture
def library() -> Generator[Library]:
    """Function that defines a library with a composite operator `twice`, which is tanh of tanh."""
    made: list[Any] = []

    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.tanh().tanh()

    def make(name: str) -> Any:
        library: Any = torch.library.Library(name, "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", twice, "CompositeImplicitAutograd")
        made.append(library)
        return library

    yield make
    for library in made:
        library._destroy()


def written(x: torch.Tensor) -> torch.Tensor:
    """Write in place, so that `run_decompositions` must process the whole program."""
    return x.clone().tanh_()


def test_operators_are_listed_anew_when_a_library_is_defined(
    library: Library, monkeypatch: pytest.MonkeyPatch
):
    capture(written, (torch.randn(2),))
    utils: Any = import_module("torch._export.utils")
    lists = Mock(wraps=utils._materialize_cpp_cia_ops)
    monkeypatch.setattr(utils, "_materialize_cpp_cia_ops", lists)
    capture(written, (torch.randn(2),))
    assert lists.call_count == 0
    library("tilewright_new")
    capture(written, (torch.randn(2),))
    assert lists.call_count == 1


def tanhs_in_twice(library: str) -> int:
    twice = getattr(torch.ops, library).twice
    module = capture(twice, (torch.randn(2),)).module
    return sum(isinstance(op, TanhOp) for op in module.walk())


def test_an_operator_defined_later_is_broken_down(library: Library):
    capture(torch.tanh, (torch.randn(2),))
    library("tilewright_later")
    assert tanhs_in_twice("tilewright_later") == 2


def test_an_operator_defined_again_is_broken_down(library: Library):
    first = library("tilewright_again")
    assert tanhs_in_twice("tilewright_again") == 2
    first._destroy()
    library("tilewright_again")
    assert tanhs_in_twice("tilewright_again") == 2


def composed(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Call composite operators: some have ops, some have a decomposition in Python."""
    wide = F.interpolate(x[None], scale_factor=2.0, mode="linear")
    return wide, torch.trapezoid(x.matmul(x.mT)), F.silu(x).square(), torch.diff(x)


@pytest.mark.filterwarnings("ignore:.*treespec")
def test_a_program_is_broken_down_as_by_pytorch():
    module = nn.Module()
    module.forward = composed
    exported: Any = torch.export.export(module, (torch.randn(4, 4),), strict=False)
    slow = exported.run_decompositions(decompositions())
    with faster_composite_ops():
        quick = exported.run_decompositions(decompositions())
    assert str(quick.graph) == str(slow.graph)
    assert len(quick.graph.nodes) > len(exported.graph.nodes)


def test_few_are_overridden(monkeypatch: pytest.MonkeyPatch):
    name = "torch.export.exported_program._override_composite_implicit_decomp"
    module = torch.export.exported_program
    override: Callable[..., object] = getattr(module, name.rpartition(".")[2])
    counts: list[int] = []

    def counted(table: dict[object, object]) -> object:
        counts.append(len(table))
        return override(table)

    monkeypatch.setattr(name, counted)
    capture(written, (torch.randn(2),))
    assert counts
    assert max(counts) < 200


def test_absent_devices_are_skipped():
    def devices() -> list[set[str]]:
        names = ("_BACKEND_KEYS_TO_OVERRIDE", "_AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE")
        keys: list[list[Any]] = [getattr(torch.export.exported_program, name) for name in names]
        return [{str(key.name).removeprefix("Autograd") for key in some} for some in keys]

    before = devices()
    accelerator = torch.accelerator.current_accelerator()
    own = {"CPU", "CUDA", "Meta"} | {device.type.upper() for device in (accelerator,) if device}
    with faster_composite_ops():
        assert devices() == [own, own]
    assert devices() == before
    assert all(len(keys) > len(own) for keys in before)
